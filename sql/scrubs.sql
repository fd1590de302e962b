-- name: part_after
-- The stored files in the order of their hashes, one at a time.
SELECT sha256, size FROM parts WHERE sha256 > :sha256 ORDER BY sha256 LIMIT 1;

-- name: content_after
-- The contents of recordings, each of which has an index pack, in the order of their hashes, one at a time.
SELECT content FROM recordings WHERE content > :sha256 ORDER BY content LIMIT 1;

-- name: parts_total
-- scan: parts: once for each integrity check
SELECT count(*), coalesce(sum(size), 0)
FROM (SELECT max(size) AS size FROM parts INDEXED BY parts_sha256 GROUP BY sha256) AS found;

-- name: corruption_count
-- scan: corrupted_files: as many as there are
SELECT count(*), 0 FROM corrupted_files;

-- name: corruption_put
INSERT INTO corrupted_files (sha256, found_ns, problem) VALUES (:sha256, :now, :text)
ON CONFLICT (sha256) DO UPDATE SET problem = excluded.problem;

-- name: corruption_problem
-- Sets the problem of every recording of that file; '' clears it where a scrub has set it.
UPDATE recordings SET problem = :text, updated_ns = max(:now, updated_ns + 1)
WHERE row IN (SELECT recording FROM parts WHERE sha256 = :sha256) AND state IN (0, 1, 4)
    AND problem <> :text AND (problem = '' OR substr(problem, 1, length(:mark)) = :mark);

-- name: corruption_clear
DELETE FROM corrupted_files WHERE sha256 = :sha256;

-- name: corruption_sweep
-- Files that no recording has any more. scan: corrupted_files: as many as there are
DELETE FROM corrupted_files WHERE NOT EXISTS (SELECT 1 FROM parts WHERE parts.sha256 = corrupted_files.sha256);

-- name: corruption_find
SELECT EXISTS (SELECT 1 FROM corrupted_files WHERE sha256 = :sha256);

-- name: corruption_list
-- Each corrupted file with one of the recordings that use it at a time, from (:sha256, :row) on.
SELECT corrupted_files.sha256, corrupted_files.found_ns, corrupted_files.problem,
    p.recording, r.id, r.collection, r.name
FROM corrupted_files
CROSS JOIN parts AS p ON p.sha256 = corrupted_files.sha256
CROSS JOIN recordings AS r ON r.row = p.recording
WHERE corrupted_files.sha256 >= :sha256 AND (corrupted_files.sha256, p.recording) > (:sha256, :row) LIMIT :limit;
