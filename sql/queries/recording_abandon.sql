-- A live recording whose server is gone is missing, unless the server has just come back.
UPDATE recordings SET state = 3, problem = :problem, updated_ns = max(:now, updated_ns + 1)
WHERE id = :id AND state = 6 AND NOT EXISTS (SELECT 1 FROM servers AS s WHERE s.id = recordings.home AND s.beat_ns >= :since) RETURNING row;
