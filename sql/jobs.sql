-- name: job_insert
INSERT INTO jobs (id, kind, key, lane, collection, subject, options, state, not_before_ns, attempts, lease_owner,
    lease_until_ns, created_ns, started_ns, home)
VALUES (:id, :kind, :key, :lane, :collection, :subject, :options, :state, :not_before, :attempts, :owner, :until, :now,
    iif(:state = 1, :now, 0), :home)
ON CONFLICT (kind, key) WHERE state < 2 DO UPDATE SET again = iif(jobs.state = 1 AND :again = 1, 1, jobs.again)
RETURNING id, state;

-- name: job_claim
UPDATE jobs
SET state = 1, attempts = attempts + 1, lease_owner = :owner, lease_until_ns = :until, started_ns = :now, again = 0,
    cancel = 0
WHERE row = (SELECT row FROM jobs
    WHERE state = 0 AND lane = :lane AND not_before_ns <= :now AND home IN ('', :home) ORDER BY row LIMIT 1)
RETURNING row, id, kind, key, lane, collection, subject, options, state, not_before_ns, attempts, lease_owner, lease_until_ns,
    progress_done, progress_total, outcome, code, problem, created_ns, started_ns, ended_ns;

-- name: job_renew
UPDATE jobs SET lease_until_ns = :until, progress_done = :done, progress_total = :total, outcome = :outcome
WHERE id = :id AND state = 1 AND lease_owner = :owner RETURNING cancel;

-- name: job_end
-- Ended, or with :state = 0 queued again; one that was added again while it ran is queued again, too.
UPDATE jobs
SET state = iif(again = 1 AND :state = 2, 0, :state), not_before_ns = iif(again = 1 AND :state = 2, 0, :not_before),
    again = 0, attempts = iif(:counts = 1, attempts, 0), lease_owner = '', lease_until_ns = 0, progress_done = :done,
    progress_total = :total, outcome = :outcome, code = :code, problem = :problem, ended_ns = :now
WHERE id = :id AND state = 1 AND lease_owner = :owner RETURNING state;

-- name: job_forget
DELETE FROM jobs WHERE id = :id AND state = 2;

-- name: job_cancel
-- A queued job ends at once; a running one is asked to.
UPDATE jobs SET cancel = 1, state = iif(state = 0, 4, state), ended_ns = iif(state = 0, :now, ended_ns), code = :code,
    problem = iif(state = 0, 'cancelled before it began', problem)
WHERE id = :id AND state < 2 RETURNING state;

-- name: job_get
SELECT row, id, kind, key, lane, collection, subject, options, state, not_before_ns, attempts, lease_owner, lease_until_ns,
    progress_done, progress_total, outcome, code, problem, created_ns, started_ns, ended_ns
FROM jobs WHERE id = :id;

-- name: job_by_key
SELECT id FROM jobs WHERE kind = :kind AND key = :key AND state < 2;

-- name: jobs_before
SELECT row, id, kind, key, lane, collection, subject, options, state, not_before_ns, attempts, lease_owner, lease_until_ns,
    progress_done, progress_total, outcome, code, problem, created_ns, started_ns, ended_ns
FROM jobs WHERE row < :row ORDER BY row DESC LIMIT :limit;

-- name: jobs_cancelled
-- scan: jobs: the index of running ones
SELECT id FROM jobs WHERE state = 1 AND cancel = 1;

-- name: jobs_due
-- scan: jobs: the index of queued ones
SELECT lane, min(not_before_ns) FROM jobs WHERE state = 0 AND home IN ('', :home) GROUP BY lane;

-- name: jobs_count
-- scan: jobs: the index of those that have not ended
SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1) FROM jobs WHERE state < 2;

-- name: jobs_count_kind
SELECT count(*) FROM jobs WHERE kind = :kind AND state < 2 AND home IN ('', :home);

-- name: jobs_expired
SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 1 AND lease_until_ns < :now);

-- name: jobs_free
-- scan: jobs: the index of running ones
-- Leases that have run out; at start also those of earlier processes of this server (:home), or with :all of every
-- process, where one alone uses the catalog.
UPDATE jobs SET state = 0, lease_owner = '', lease_until_ns = 0
WHERE state = 1 AND (:all = 1 OR lease_until_ns < :now OR (:home <> '' AND lease_owner LIKE :home || ':%'));

-- name: jobs_drop
-- scan: jobs: the index of those that have not ended
-- Of a copy: what was under way in the original is not to be done here; scans are added again at its start.
DELETE FROM jobs WHERE state < 2;

-- name: jobs_trim
DELETE FROM jobs WHERE row IN (SELECT row FROM jobs WHERE state > 1 AND ended_ns < :before LIMIT 1000);
