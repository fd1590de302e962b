-- name: failure_over
DELETE FROM failures WHERE folder = :folder AND name = :name;

-- name: failure_put
INSERT INTO failures (folder, name, collection, code, reason, request, tries, first_ns, last_ns)
VALUES (:folder, :name, :collection, :code, :reason, :request, 1, :now, :now)
ON CONFLICT (folder, name) DO UPDATE SET collection = excluded.collection, code = excluded.code,
    reason = excluded.reason, request = excluded.request, tries = failures.tries + 1, last_ns = excluded.last_ns
RETURNING row;

-- name: failures_after
SELECT f.row, f.folder, f.name, coalesce(r.id, ''), f.collection, f.code, iif(f.recording IS NULL, f.reason, r.problem),
    f.request, f.tries, f.first_ns, f.last_ns, coalesce(r.name, '')
FROM failures AS f LEFT JOIN recordings AS r ON r.row = f.recording WHERE f.row > :row ORDER BY f.row LIMIT :limit;

-- name: failure_delete
DELETE FROM failures WHERE row = :row RETURNING row;

-- name: failures_count
-- How many there are, counted no further than :limit.
-- scan: failures: bounded by :limit
SELECT count(*) FROM (SELECT 1 FROM failures LIMIT :limit) AS found;
