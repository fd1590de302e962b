-- scan: r: on request only (fsck); scan: s: as r
SELECT collection || '/' || name || ' is missing from the full-text index' FROM recordings AS r
WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.rowid = r.row AND s.name IS r.name AND s.collection IS r.collection)
UNION ALL
SELECT 'the full-text index has a recording that does not exist' FROM search AS s WHERE NOT EXISTS (SELECT 1 FROM recordings AS r WHERE r.row = s.rowid);
