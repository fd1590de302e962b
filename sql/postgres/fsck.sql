-- name: check_keys
-- PostgreSQL holds its references itself.
SELECT '' WHERE FALSE;

-- name: check_search
SELECT collection || '/' || name || ' is missing from the full-text index' FROM recordings AS r
WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.row = r.row)
UNION ALL
SELECT 'the full-text index has a recording that does not exist' FROM search AS s
WHERE NOT EXISTS (SELECT 1 FROM recordings AS r WHERE r.row = s.row)
UNION ALL
SELECT name || ' is missing from the full-text index of topics, types and metadata' FROM labels AS l
WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.row = l.id)
UNION ALL
SELECT 'the full-text index has a topic, type or metadata that does not exist' FROM label_search AS s
WHERE NOT EXISTS (SELECT 1 FROM labels AS l WHERE l.id = s.row);

-- name: check_words
-- PostgreSQL holds its indexes itself.
SELECT '' WHERE FALSE;

-- name: check_label_words
-- PostgreSQL holds its indexes itself.
SELECT '' WHERE FALSE;

-- name: repair_search_rebuild
-- PostgreSQL holds its indexes itself.
SELECT '' WHERE FALSE;

-- name: repair_search_drop
DELETE FROM search WHERE row NOT IN (SELECT row FROM recordings);

-- name: repair_label_words_rebuild
-- PostgreSQL holds its indexes itself.
SELECT '' WHERE FALSE;

-- name: repair_label_words_drop
DELETE FROM label_search WHERE row NOT IN (SELECT id FROM labels);
