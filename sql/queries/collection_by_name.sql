SELECT name, recordings, bytes, messages, duration_ms, description,
    (SELECT min(calendar_start_ns) FROM recordings WHERE collection = c.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL),
    (SELECT max(calendar_end_ns) FROM recordings WHERE collection = c.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL)
FROM collections AS c WHERE name = :name;
