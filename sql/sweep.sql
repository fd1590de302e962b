-- name: hashes_of_parts
-- A page of the stored files that recordings have, in the order of their hashes.
SELECT DISTINCT sha256 FROM parts WHERE sha256 >= :sha256 ORDER BY sha256 LIMIT :limit;

-- name: hashes_of_contents
SELECT DISTINCT content FROM recordings WHERE content >= :sha256 ORDER BY content LIMIT :limit;

-- name: hashes_of_objects
SELECT sha256 FROM objects WHERE sha256 >= :sha256 ORDER BY sha256 LIMIT :limit;

-- name: files_of_rows
-- With :objects only those that have no object. :rows: a JSON array.
SELECT recording, sha256 FROM parts
WHERE recording {in ints :rows}
    AND (:objects = 0 OR NOT EXISTS (SELECT 1 FROM objects WHERE objects.sha256 = parts.sha256))
ORDER BY recording, position;
