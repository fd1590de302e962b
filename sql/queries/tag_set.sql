-- Changes nothing when it is so already.
INSERT INTO recording_tags (recording, key, value)
SELECT :row, k.id, v.id FROM tag_keys AS k CROSS JOIN tag_values AS v ON v.key = k.id WHERE k.name = :key AND v.value = :value
ON CONFLICT (recording, key) DO UPDATE SET value = excluded.value WHERE recording_tags.value <> excluded.value;
