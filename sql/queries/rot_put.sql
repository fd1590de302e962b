INSERT INTO rot (sha256, found_ns, text) VALUES (:sha256, :now, :text) ON CONFLICT (sha256) DO UPDATE SET text = excluded.text;
