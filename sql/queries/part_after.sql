-- The stored files in the order of their hashes, one at a time.
SELECT sha256, size FROM parts WHERE sha256 > :sha256 ORDER BY sha256 LIMIT 1;
