-- Both branches come in the order of names, so only a page of them is read. scan: n: a page
SELECT n.name, coalesce(sum(s.recordings), 0), coalesce(sum(s.bytes), 0), coalesce(sum(s.messages), 0), coalesce(sum(s.duration_ms), 0),
    coalesce((SELECT description FROM collections AS c WHERE c.name = n.name), ''),
    (SELECT min(calendar_start_ns) FROM recordings WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL),
    (SELECT max(calendar_end_ns) FROM recordings WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL)
FROM (
    SELECT collection AS name FROM sums WHERE collection > :after AND state <> 4 AND recordings > 0
    UNION SELECT name FROM collections WHERE name > :after ORDER BY name LIMIT :limit
) AS n LEFT JOIN sums AS s ON s.collection = n.name AND s.state <> 4
GROUP BY n.name ORDER BY n.name;
