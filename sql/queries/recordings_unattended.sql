SELECT id, home FROM recordings AS r
WHERE state = 6 AND NOT EXISTS (SELECT 1 FROM servers AS s WHERE s.id = r.home AND s.beat_ns >= :since) LIMIT :limit;
