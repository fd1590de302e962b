-- name: retention_collection
-- The next collection, and what is in it outside of the trash; what is announced takes no room yet.
SELECT collection, sum(iif(state = 7, 0, bytes)) FROM sums
WHERE collection > :name AND state <> 4 GROUP BY collection ORDER BY collection LIMIT 1;

-- name: retention_rows
-- Recordings of a collection from the oldest on, and whether a tag keeps them (:keep: a JSON object of keys and values;
-- null is any value, the key * is any key). What is being scanned is left alone.
SELECT r.row, r.id, r.name, r.revision, iif(r.state = 7, 0, r.size), r.created_ns, EXISTS (
    SELECT 1 FROM recording_tags AS t
    CROSS JOIN tag_keys AS k ON k.id = t.key
    CROSS JOIN tag_values AS v ON v.id = t.value
    CROSS JOIN json_each(:keep) AS keep
    WHERE t.recording = r.row AND (keep.key = '*' OR keep.key = k.name)
        AND (keep.type = 'null' OR v.value = keep.value))
FROM recordings AS r
WHERE r.collection = :collection AND r.row > :row AND r.state NOT IN (0, 4) ORDER BY r.row LIMIT :limit;

-- name: retention_trash
-- What lies in the trash; its last change is when it came there, or later. By the index of states, in the order of
-- their rows.
SELECT row, id, collection, name, revision, size, created_ns FROM recordings
WHERE state = 4 AND row > :row AND updated_ns < :before ORDER BY row LIMIT :limit;
