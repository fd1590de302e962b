-- A live recording is written by this server again.
UPDATE recordings SET home = :home, state = 6, problem = '', updated_ns = max(:now, updated_ns + 1) WHERE id = :id AND state IN (3, 6) RETURNING row;
