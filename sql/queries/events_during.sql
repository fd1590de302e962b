-- Events that have begun before an instant and are not over. scan: width: the few classes of length. may sort: what goes on at one
-- instant. The "+" leave the index to the classes.
SELECT
    e.row, e.id, r.id, r.collection, r.name, r.clock, e.start_ns, e.end_ns, e.wall_start_ns IS NOT NULL, e.wall_start_ns, e.wall_end_ns, e.title, e.author,
    e.tags, e.created_ns, e.updated_ns, r.row
FROM event_widths AS width CROSS JOIN events AS e INDEXED BY events_lasting
    ON e.width_ns = width.width_ns AND e.wall_start_ns > :start - width.width_ns AND e.wall_start_ns < :start
CROSS JOIN recordings AS r ON r.row = e.recording
WHERE e.wall_end_ns > :start AND (+e.wall_start_ns, e.row) > (:key, :after) AND +e.wall_start_ns < :end
ORDER BY e.wall_start_ns, e.row;
