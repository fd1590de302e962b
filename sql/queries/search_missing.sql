-- scan: r: on request only (fsck)
SELECT row, name, collection FROM recordings AS r WHERE NOT EXISTS (SELECT 1 FROM search WHERE rowid = r.row) LIMIT 1000;
