-- scan: objects: once after each start, in the background; scan: uploads: at most 10,000, once each
-- An upload that is about to end names its content before it becomes a recording.
SELECT sha256
FROM objects
WHERE sha256 > :after
    AND NOT EXISTS (SELECT 1 FROM parts WHERE parts.sha256 = objects.sha256)
    AND NOT EXISTS (SELECT 1 FROM uploads WHERE uploads.content = objects.sha256 AND uploads.state = 0)
ORDER BY sha256
LIMIT 1;
