-- Events that begin from an instant on, in the order in which they do.
SELECT
    e.row, e.id, r.id, r.collection, r.name, r.clock, e.start_ns, e.end_ns, e.wall_start_ns IS NOT NULL, e.wall_start_ns, e.wall_end_ns, e.title, e.author,
    e.tags, e.created_ns, e.updated_ns, r.row
FROM events AS e CROSS JOIN recordings AS r ON r.row = e.recording
WHERE e.wall_start_ns IS NOT NULL AND (e.wall_start_ns, e.row) > (:key, :after) AND e.wall_start_ns < :end
ORDER BY e.wall_start_ns, e.row;
