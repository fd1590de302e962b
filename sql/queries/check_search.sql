-- scan: r: on request only (fsck); scan: s: as r; scan: l: as r
SELECT collection || '/' || name || ' is missing from the full-text index' FROM recordings AS r
WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.rowid = r.row AND s.text = search_text(r.name, r.collection))
UNION ALL
SELECT 'the full-text index has a recording that does not exist' FROM search AS s WHERE NOT EXISTS (SELECT 1 FROM recordings AS r WHERE r.row = s.rowid)
UNION ALL
SELECT name || ' is missing from the full-text index of topics, types and metadata' FROM labels AS l
WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.rowid = l.id AND s.text = search_text(l.name))
UNION ALL
SELECT 'the full-text index has a topic, type or metadata that does not exist' FROM label_search AS s
WHERE NOT EXISTS (SELECT 1 FROM labels AS l WHERE l.id = s.rowid);
