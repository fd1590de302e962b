-- name: object_find
SELECT location, etag, size FROM objects WHERE sha256 = :sha256;

-- name: object_add
INSERT INTO objects (sha256, location, etag, size) VALUES (:sha256, :location, :etag, :size)
ON CONFLICT (sha256) DO NOTHING;

-- name: object_replace
UPDATE objects SET location = :location, etag = :etag, size = :size WHERE sha256 = :sha256;

-- name: object_delete
DELETE FROM objects WHERE sha256 = :sha256;

-- name: upload_uses_object
-- scan: uploads: those that are open or partial are at most 10,000; once for each object that a session has left for a
-- day, and by reel fsck
SELECT EXISTS (SELECT 1 FROM uploads WHERE (state = 0 OR concat = 'partial') AND note LIKE '%' || :name || '%');

-- name: object_known
SELECT EXISTS (SELECT 1 FROM objects WHERE location = :location AND etag = '');
