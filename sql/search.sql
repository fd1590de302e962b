-- name: search_rename
UPDATE search SET text = search_text(:name, :collection) WHERE rowid = :row;

-- name: search_missing
-- scan: r: on request only (fsck)
SELECT row, name, collection FROM recordings AS r
WHERE NOT EXISTS (SELECT 1 FROM search WHERE rowid = r.row) LIMIT 1000;

-- name: search_insert
INSERT INTO search (rowid, text) VALUES (:row, search_text(:name, :collection));

-- name: label_search_insert
INSERT INTO label_search (rowid, text)
SELECT l.id, search_text(l.name) FROM {texts :labels} AS v
CROSS JOIN labels AS l ON l.kind = CAST(substr(v.value, 1, 1) AS INTEGER) AND l.name = substr(v.value, 2);

-- name: label_search_delete
DELETE FROM label_search WHERE rowid IN (SELECT id FROM labels_changed WHERE id <= :last);

-- name: search_needle
SELECT search_needle(:word, :phrase);

-- name: label_search_kinds
-- The kinds of the labels that have this text, one of each label.
SELECT l.kind FROM label_search CROSS JOIN labels AS l ON l.id = label_search.rowid
WHERE label_search MATCH :match LIMIT :limit;

-- name: search_delete
DELETE FROM search WHERE rowid = :row;
