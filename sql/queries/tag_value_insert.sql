INSERT INTO tag_values (key, value) SELECT id, :value FROM tag_keys WHERE name = :key ON CONFLICT (key, value) DO NOTHING;
