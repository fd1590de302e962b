-- The contents of recordings, each of which has an index pack, in the order of their hashes, one at a time.
SELECT content FROM recordings WHERE content > :sha256 ORDER BY content LIMIT 1;
