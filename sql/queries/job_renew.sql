UPDATE jobs SET lease_until_ns = :until, progress_done = :done, progress_total = :total, outcome = :outcome
WHERE id = :id AND state = 1 AND lease_owner = :owner RETURNING cancel;
