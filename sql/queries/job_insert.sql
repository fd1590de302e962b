INSERT INTO jobs (id, kind, key, lane, collection, subject, options, state, not_before_ns, attempts, lease_owner, lease_until_ns, created_ns, started_ns, home)
VALUES (:id, :kind, :key, :lane, :collection, :subject, :options, :state, :not_before, :attempts, :owner, :until, :now, iif(:state = 1, :now, 0), :home)
ON CONFLICT (kind, key) WHERE state < 2 DO UPDATE SET again = iif(jobs.state = 1 AND :again = 1, 1, jobs.again)
RETURNING id, state;
