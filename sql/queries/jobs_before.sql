SELECT row, id, kind, key, lane, collection, subject, options, state, not_before_ns, attempts, lease_owner, lease_until_ns,
    progress_done, progress_total, outcome, code, problem, created_ns, started_ns, ended_ns
FROM jobs WHERE row < :row ORDER BY row DESC LIMIT :limit;
