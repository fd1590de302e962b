-- name: retention_rows
-- As for SQLite.
SELECT r.row, r.id, r.name, r.revision, iif(r.state = 7, 0, r.size), r.created_ns, EXISTS (
    SELECT 1 FROM recording_tags AS t
    JOIN tag_keys AS k ON k.id = t.key
    JOIN tag_values AS v ON v.id = t.value
    JOIN json_each(CAST(:keep AS json)) AS keep ON keep.key = '*' OR keep.key = k.name
    WHERE t.recording = r.row AND (json_typeof(keep.value) = 'null' OR v.value = keep.value #>> '{}'))
FROM recordings AS r
WHERE r.collection = :collection AND r.row > :row AND r.state NOT IN (0, 4) ORDER BY r.row LIMIT :limit;
