-- By the recording's own times; it has a bounded number of them.
SELECT
    e.row, e.id, r.id, r.collection, r.name, r.clock, e.start_ns, e.end_ns, e.wall_start_ns IS NOT NULL, e.wall_start_ns, e.wall_end_ns, e.title, e.author,
    e.tags, e.created_ns, e.updated_ns, r.row
FROM events AS e CROSS JOIN recordings AS r ON r.row = e.recording
WHERE e.recording = :row AND (e.start_ns, e.row) > (:key, :after) AND e.start_ns < :end AND (e.end_ns > :start OR e.start_ns >= :start)
ORDER BY e.start_ns, e.row;
