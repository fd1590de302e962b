-- name: sums_by_state
-- scan: sums: as few as there are combinations of collection, format, state and day
SELECT state, sum(recordings), sum(bytes), sum(messages) FROM sums GROUP BY state;

-- name: recordings_total
-- How many recordings there are outside of the trash.
-- scan: sums: as few as there are combinations of collection, format, state and day
SELECT coalesce(sum(recordings), 0) FROM sums WHERE state <> 4;

-- name: formats_list
-- The formats that there are: a handful.
-- scan: sums: as few as there are combinations of collection, format, state and day
SELECT DISTINCT format FROM sums WHERE recordings > 0;

-- name: quota_used
-- Without what is announced: it counts when its file arrives.
SELECT coalesce(sum(recordings), 0), coalesce(sum(bytes), 0) FROM sums WHERE collection = :name AND state NOT IN (4, 7);

-- name: sums_names
-- Formats (:kind 0) or states (1): a handful.
-- scan: sums: as few as there are combinations of collection, format, state and day. may sort
SELECT name, sum(recordings)
FROM (SELECT CASE :kind WHEN 0 THEN format ELSE CAST(state AS TEXT) END AS name, recordings FROM sums
    WHERE recordings > 0 AND (state <> 4 OR :kind = 1)) AS found
WHERE name >= :from AND (:first = 1 OR name > :after) AND name < :end GROUP BY name ORDER BY name LIMIT :limit;

-- name: sums_by
-- Sums by format (:kind 0), state (1) or day (2, the first :size characters), of some collections or of all; without
-- the trash unless by state.
-- scan: sums: as few as there are combinations of collection, format, state and day. may sort
SELECT CASE :kind WHEN 0 THEN format WHEN 1 THEN CAST(state AS TEXT) ELSE substr(day, 1, :size) END AS part,
    sum(recordings), sum(bytes), sum(messages), sum(duration_ms)
FROM sums WHERE recordings > 0 AND (state <> 4 OR :kind = 1) AND (:all = 1 OR collection {in texts :collections})
GROUP BY part ORDER BY part DESC LIMIT :limit;
