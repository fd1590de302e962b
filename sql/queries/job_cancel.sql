-- A queued job ends at once; a running one is asked to.
UPDATE jobs SET cancel = 1, state = iif(state = 0, 4, state), ended_ns = iif(state = 0, :now, ended_ns), code = :code,
    problem = iif(state = 0, 'cancelled before it began', problem)
WHERE id = :id AND state < 2 RETURNING state;
