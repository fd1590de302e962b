INSERT INTO tag_keys (name) VALUES (:key) ON CONFLICT (name) DO NOTHING;
