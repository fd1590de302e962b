-- scan: n: one row
SELECT n.name, coalesce(sum(s.recordings), 0), coalesce(sum(s.bytes), 0), coalesce(sum(s.messages), 0), coalesce(sum(s.duration_ms), 0),
    coalesce((SELECT description FROM collections AS c WHERE c.name = n.name), ''),
    (SELECT min(calendar_start_ns) FROM recordings WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL),
    (SELECT max(calendar_end_ns) FROM recordings WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL)
FROM (SELECT :name AS name) AS n LEFT JOIN sums AS s ON s.collection = n.name AND s.state <> 4
GROUP BY n.name HAVING sum(s.recordings) > 0 OR EXISTS (SELECT 1 FROM collections AS c WHERE c.name = n.name);
