-- name: search_rename
UPDATE search SET text = search_text(:name, :collection) WHERE row = :row;

-- name: search_missing
SELECT row, name, collection FROM recordings AS r
WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.row = r.row) LIMIT 1000;

-- name: search_insert
INSERT INTO search (row, text) VALUES (:row, search_text(:name, :collection));

-- name: label_search_insert
INSERT INTO label_search (row, text)
SELECT l.id, v.text FROM unnest(texts_of(:labels), texts_of(search_texts(:labels))) AS v (label, text)
JOIN labels AS l ON l.kind = CAST(substr(v.label, 1, 1) AS INTEGER) AND l.name = substr(v.label, 2);

-- name: label_search_delete
DELETE FROM label_search WHERE row IN (SELECT id FROM labels_changed WHERE id <= :last);

-- name: label_search_kinds
SELECT l.kind FROM label_search AS s JOIN labels AS l ON l.id = s.row WHERE s.text LIKE :match LIMIT :limit;

-- name: search_delete
DELETE FROM search WHERE row = :row;
