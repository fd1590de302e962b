-- scan: r: by hand only; scan: s: as r
SELECT collection || '/' || name || ' is not found by its words' FROM recordings AS r
WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.rowid = r.row AND s.name IS r.name AND s.collection IS r.collection)
UNION ALL
SELECT 'words of a recording that is not there' FROM search AS s WHERE NOT EXISTS (SELECT 1 FROM recordings AS r WHERE r.row = s.rowid);
