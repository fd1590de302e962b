-- name: fetch_same
-- One that asks for the same and waits, and how many wait.
SELECT coalesce(max(iif((start_ns IS NULL) = (:whole = 1) AND coalesce(start_ns, :start) = :start
        AND coalesce(end_ns, :end) = :end, row, 0)), 0), count(*)
FROM fetches WHERE recording = :row AND answered_ns = 0;

-- name: fetch_insert
INSERT INTO fetches (recording, agent, start_ns, end_ns, author, asked_ns)
VALUES (:row, :agent, iif(:whole = 1, NULL, :start), iif(:whole = 1, NULL, :end), :author, :now) RETURNING row;

-- name: fetches_of
SELECT f.row, r.id, f.start_ns IS NOT NULL, coalesce(f.start_ns, 0), coalesce(f.end_ns, 0), f.author, f.asked_ns,
    f.answered_ns, f.problem, f.result
FROM fetches AS f CROSS JOIN recordings AS r ON r.row = f.recording
WHERE f.recording = (SELECT row FROM recordings WHERE id = :id) ORDER BY f.row DESC LIMIT :limit;

-- name: fetches_waiting
SELECT f.row, r.id, f.start_ns IS NOT NULL, coalesce(f.start_ns, 0), coalesce(f.end_ns, 0), f.author, f.asked_ns,
    f.answered_ns, f.problem, f.result
FROM fetches AS f CROSS JOIN recordings AS r ON r.row = f.recording
WHERE f.agent = :agent AND f.answered_ns = 0 AND r.state = 7 ORDER BY f.row LIMIT :limit;

-- name: fetch_answer
UPDATE fetches SET answered_ns = :now, problem = :problem, result = :result
WHERE row = :fetch AND agent = :agent AND answered_ns = 0 RETURNING recording;

-- name: fetches_over
-- Its file has arrived.
DELETE FROM fetches WHERE recording = :row;

-- name: fetches_renew
UPDATE fetches SET agent = :agent WHERE recording = :row AND answered_ns = 0;
