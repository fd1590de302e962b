-- Ended, or with :state = 0 queued again; one that was added again while it ran is queued again, too.
UPDATE jobs SET state = iif(again = 1 AND :state = 2, 0, :state), not_before_ns = iif(again = 1 AND :state = 2, 0, :not_before), again = 0,
    attempts = iif(:counts = 1, attempts, 0), lease_owner = '', lease_until_ns = 0,
    progress_done = :done, progress_total = :total, outcome = :outcome, code = :code, problem = :problem, ended_ns = :now
WHERE id = :id AND state = 1 AND lease_owner = :owner RETURNING state;
