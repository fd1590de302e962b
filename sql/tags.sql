-- name: tags_count
SELECT count(*) FROM recording_tags WHERE recording = :row;

-- name: tags_clear
DELETE FROM recording_tags WHERE recording = :row;

-- name: tag_key_insert
INSERT INTO tag_keys (name) VALUES (:key) ON CONFLICT (name) DO NOTHING;

-- name: tag_value_insert
INSERT INTO tag_values (key, value) SELECT id, :value FROM tag_keys WHERE name = :key
ON CONFLICT (key, value) DO NOTHING;

-- name: tag_set
-- Changes nothing when it is so already.
INSERT INTO recording_tags (recording, key, value)
SELECT :row, k.id, v.id FROM tag_keys AS k CROSS JOIN tag_values AS v ON v.key = k.id
WHERE k.name = :key AND v.value = :value
ON CONFLICT (recording, key) DO UPDATE SET value = excluded.value WHERE recording_tags.value <> excluded.value;

-- name: tag_unset
DELETE FROM recording_tags WHERE recording = :row AND key = (SELECT id FROM tag_keys WHERE name = :key);

-- name: tag_keys_list
SELECT name, recordings FROM tag_keys INDEXED BY tag_keys_shown
WHERE recordings > 0 AND name >= :from AND name > :after AND name < :end ORDER BY name LIMIT :limit;

-- name: tag_values_list
SELECT value, recordings FROM tag_values INDEXED BY tag_values_shown
WHERE recordings > 0 AND key = (SELECT id FROM tag_keys WHERE name = :key) AND value >= :from
    AND (:first = 1 OR value > :after) AND value < :end
ORDER BY value LIMIT :limit;

-- name: tags_of_rows
SELECT t.recording, k.name, v.value
FROM recording_tags AS t CROSS JOIN tag_keys AS k ON k.id = t.key CROSS JOIN tag_values AS v ON v.id = t.value
WHERE t.recording {in ints :rows} ORDER BY t.recording;

-- name: tag_values_between
-- Values in a range, of the keys in a range.
SELECT v.id, v.value, k.name FROM tag_keys AS k CROSS JOIN tag_values AS v ON v.key = k.id
WHERE k.name >= :key_from AND k.name <= :key_end AND v.value >= :from AND v.value <= :end;

-- name: tag_keys_between
SELECT id, name FROM tag_keys WHERE name >= :from AND name <= :end;
