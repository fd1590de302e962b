-- scan: search: on request only (fsck)
DELETE FROM search WHERE rowid IN (
    SELECT s.rowid FROM search AS s LEFT JOIN recordings AS r ON r.row = s.rowid
    WHERE r.row IS NULL OR s.name IS NOT r.name OR s.collection IS NOT r.collection);
