-- scan: s: on request only (fsck)
DELETE FROM search WHERE rowid IN (
    SELECT s.rowid FROM search AS s LEFT JOIN recordings AS r ON r.row = s.rowid WHERE r.row IS NULL OR s.text <> search_text(r.name, r.collection));
