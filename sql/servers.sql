-- name: server_heartbeat
INSERT INTO servers (id, address, beat_ns) VALUES (:id, :address, :now)
ON CONFLICT (id) DO UPDATE SET address = excluded.address, beat_ns = excluded.beat_ns;

-- name: server_find
SELECT address, beat_ns FROM servers WHERE id = :id;

-- name: servers_trim
-- scan: servers: a row for each server
DELETE FROM servers WHERE beat_ns < :before;

-- name: recordings_unattended
SELECT id, home FROM recordings AS r
WHERE state = 6 AND NOT EXISTS (SELECT 1 FROM servers AS s WHERE s.id = r.home AND s.beat_ns >= :since) LIMIT :limit;

-- name: recording_set_missing
-- A live recording whose server is gone is missing, unless the server has just come back.
UPDATE recordings SET state = 3, problem = :problem, updated_ns = max(:now, updated_ns + 1)
WHERE id = :id AND state = 6
    AND NOT EXISTS (SELECT 1 FROM servers AS s WHERE s.id = recordings.home AND s.beat_ns >= :since)
RETURNING row;

-- name: recording_set_home
-- A live recording is written by this server again.
UPDATE recordings SET home = :home, state = 6, problem = '', updated_ns = max(:now, updated_ns + 1)
WHERE id = :id AND state IN (3, 6) RETURNING row;
