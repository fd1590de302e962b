-- scan: uploads: those that are open are at most 10,000; once for each content that a recording leaves
-- Set when an upload is about to end, and as long as it has not ended.
SELECT EXISTS (SELECT 1 FROM uploads WHERE content = :sha256 AND state = 0);
