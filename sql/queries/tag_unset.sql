DELETE FROM recording_tags WHERE recording = :row AND key = (SELECT id FROM tag_keys WHERE name = :key);
