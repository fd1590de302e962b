SELECT collection || '/' || name || ' is missing from the full-text index' FROM recordings AS r WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.row = r.row)
UNION ALL
SELECT 'the full-text index has a recording that does not exist' FROM search AS s WHERE NOT EXISTS (SELECT 1 FROM recordings AS r WHERE r.row = s.row)
UNION ALL
SELECT name || ' is missing from the full-text index of topics, types and metadata' FROM labels AS l
WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.row = l.id)
UNION ALL
SELECT 'the full-text index has a topic, type or metadata that does not exist' FROM label_search AS s
WHERE NOT EXISTS (SELECT 1 FROM labels AS l WHERE l.id = s.row);
