-- name: changes_after
SELECT seq, time_ns, kind, recording, collection, name, detail_name, detail, detail_value FROM changes
WHERE seq > :seq ORDER BY seq LIMIT :limit;

-- name: change_job
-- Kinds that begin with "job." have the id of the job instead of a recording's.
INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
VALUES (:kind, :id, :collection, :subject, 'kind', :work);

-- name: changes_ends
-- The oldest and the newest that are kept; where there are none, between which two the next will be.
-- scan: sqlite_sequence: a row a table
SELECT coalesce((SELECT min(seq) FROM changes), (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'changes')),
    coalesce((SELECT max(seq) FROM changes), (SELECT seq FROM sqlite_sequence WHERE name = 'changes'));

-- name: changes_recordings
-- The recordings that changed after :seq, a bounded number of changes; 0: some that are not there any more. may sort
SELECT DISTINCT coalesce(r.row, 0) FROM changes AS c LEFT JOIN recordings AS r ON r.id = c.recording
WHERE c.seq > :seq AND c.kind NOT LIKE 'job.%' LIMIT :limit;
