-- name: event_by_id
SELECT
    e.row, e.id, r.id, r.collection, r.name, r.clock, e.start_ns, e.end_ns, e.wall_start_ns IS NOT NULL,
    e.wall_start_ns, e.wall_end_ns, e.title, e.author, e.tags, e.created_ns, e.updated_ns, r.row
FROM events AS e CROSS JOIN recordings AS r ON r.row = e.recording WHERE e.id = :id;

-- name: event_insert
INSERT INTO events (id, recording, start_ns, end_ns, author, created_ns, updated_ns, title, tags)
VALUES (:id, :row, :start, :end, :author, :created, :updated, :title, :tags) RETURNING row;

-- name: event_update
UPDATE events SET start_ns = :start, end_ns = :end, title = :title, tags = :tags, updated_ns = max(:now, updated_ns + 1)
WHERE row = :row;

-- name: event_delete
DELETE FROM events WHERE row = :row;

-- name: events_during
-- Events that have begun before an instant and are not over.
-- scan: width: the few classes of length. may sort: what goes on at one instant.
-- The "+" leave the index to the classes.
SELECT
    e.row, e.id, r.id, r.collection, r.name, r.clock, e.start_ns, e.end_ns, e.wall_start_ns IS NOT NULL,
    e.wall_start_ns, e.wall_end_ns, e.title, e.author, e.tags, e.created_ns, e.updated_ns, r.row
FROM event_widths AS width CROSS JOIN events AS e INDEXED BY events_lasting
    ON e.width_ns = width.width_ns AND e.wall_start_ns > :start - width.width_ns AND e.wall_start_ns < :start
CROSS JOIN recordings AS r ON r.row = e.recording
WHERE e.wall_end_ns > :start AND (+e.wall_start_ns, e.row) > (:key, :after) AND +e.wall_start_ns < :end
ORDER BY e.wall_start_ns, e.row;

-- name: events_from
-- Events that begin from an instant on, in the order in which they do.
SELECT
    e.row, e.id, r.id, r.collection, r.name, r.clock, e.start_ns, e.end_ns, e.wall_start_ns IS NOT NULL,
    e.wall_start_ns, e.wall_end_ns, e.title, e.author, e.tags, e.created_ns, e.updated_ns, r.row
FROM events AS e CROSS JOIN recordings AS r ON r.row = e.recording
WHERE e.wall_start_ns IS NOT NULL AND (e.wall_start_ns, e.row) > (:key, :after) AND e.wall_start_ns < :end
ORDER BY e.wall_start_ns, e.row;

-- name: events_of_recording
-- By the recording's own times; it has a bounded number of them.
SELECT
    e.row, e.id, r.id, r.collection, r.name, r.clock, e.start_ns, e.end_ns, e.wall_start_ns IS NOT NULL,
    e.wall_start_ns, e.wall_end_ns, e.title, e.author, e.tags, e.created_ns, e.updated_ns, r.row
FROM events AS e CROSS JOIN recordings AS r ON r.row = e.recording
WHERE e.recording = :row AND (e.start_ns, e.row) > (:key, :after) AND e.start_ns < :end
    AND (e.end_ns > :start OR e.start_ns >= :start)
ORDER BY e.start_ns, e.row;
