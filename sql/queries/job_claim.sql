UPDATE jobs SET state = 1, attempts = attempts + 1, lease_owner = :owner, lease_until_ns = :until, started_ns = :now, again = 0, cancel = 0
WHERE row = (SELECT row FROM jobs WHERE state = 0 AND lane = :lane AND not_before_ns <= :now AND home IN ('', :home) ORDER BY row LIMIT 1)
RETURNING row, id, kind, key, lane, collection, subject, options, state, not_before_ns, attempts, lease_owner, lease_until_ns,
    progress_done, progress_total, outcome, code, problem, created_ns, started_ns, ended_ns;
