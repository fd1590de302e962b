-- scan: s: on request only (fsck)
DELETE FROM label_search WHERE rowid IN (
    SELECT s.rowid FROM label_search AS s LEFT JOIN labels AS l ON l.id = s.rowid WHERE l.id IS NULL OR s.text <> search_text(l.name));
