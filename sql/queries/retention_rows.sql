-- Recordings of a collection from the oldest on, and whether a tag keeps them (:keep: a JSON object of keys and values; null is any value). What is being
-- scanned is left alone.
SELECT r.row, r.id, r.name, r.revision, r.size, r.created_ns, EXISTS (
    SELECT 1 FROM json_each(:keep) AS keep
    CROSS JOIN tag_keys AS k ON k.name = keep.key
    CROSS JOIN recording_tags AS t ON t.recording = r.row AND t.key = k.id
    CROSS JOIN tag_values AS v ON v.id = t.value
    WHERE keep.type = 'null' OR v.value = keep.value)
FROM recordings AS r WHERE r.collection = :collection AND r.row > :row AND r.state NOT IN (0, 4) ORDER BY r.row LIMIT :limit;
