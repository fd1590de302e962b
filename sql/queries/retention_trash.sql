-- What lies in the trash; its last change is when it came there, or later. By the index of states, in the order of their rows.
SELECT row, id, collection, name, revision, size, created_ns FROM recordings
WHERE state = 4 AND row > :row AND updated_ns < :before ORDER BY row LIMIT :limit;
