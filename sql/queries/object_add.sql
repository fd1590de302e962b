INSERT INTO objects (sha256, location, etag, size) VALUES (:sha256, :location, :etag, :size) ON CONFLICT (sha256) DO NOTHING;
