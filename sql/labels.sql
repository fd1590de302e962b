-- name: label_insert
-- A label is its kind, a digit, and its name.
INSERT INTO labels (kind, name)
SELECT CAST(substr(l.value, 1, 1) AS INTEGER), substr(l.value, 2) FROM {texts :labels} AS l WHERE TRUE
ON CONFLICT (kind, name) DO NOTHING;

-- name: label_link
INSERT INTO label_set_labels (label_set, label)
SELECT :set, l.id FROM {texts :labels} AS v
CROSS JOIN labels AS l ON l.kind = CAST(substr(v.value, 1, 1) AS INTEGER) AND l.name = substr(v.value, 2);

-- name: label_set_find
SELECT id FROM label_sets WHERE digest = :digest;

-- name: label_set_insert
INSERT INTO label_sets (digest) VALUES (:digest) RETURNING id;

-- name: labels_changed
-- As label_insert takes them; '' is one that has been deleted. scan: c: what this transaction has changed
SELECT c.id, coalesce(CAST(l.kind AS TEXT) || l.name, '') FROM labels_changed AS c LEFT JOIN labels AS l ON l.id = c.id
ORDER BY c.id LIMIT :limit;

-- name: labels_changed_clear
DELETE FROM labels_changed WHERE id <= :last;

-- name: labels_missing
-- Labels without a text. scan: l: on request only (fsck)
INSERT INTO labels_changed SELECT id FROM labels AS l WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.rowid = l.id)
ON CONFLICT (id) DO NOTHING;

-- name: labels_between
-- Distinct names of one kind in a range; the caller stops after a bounded number.
SELECT id, name FROM labels WHERE kind = :kind AND name >= :from AND name <= :end;

-- name: labels_list
-- Distinct names of one kind that recordings outside of the trash have.
SELECT name, recordings FROM (
    SELECT name, (SELECT sum(s.recordings)
        FROM label_set_labels AS k CROSS JOIN label_sets AS s ON s.id = k.label_set
        WHERE k.label = l.id) AS recordings
    FROM labels AS l WHERE kind = :kind AND name >= :from AND (:first = 1 OR name > :after) AND name < :end
) AS found WHERE recordings > 0 ORDER BY name LIMIT :limit;
