-- Formats (:kind 0) or states (1): a handful. scan: sums: as few as there are combinations of collection, format, state and day. may sort
SELECT name, sum(recordings)
FROM (SELECT CASE :kind WHEN 0 THEN format ELSE CAST(state AS TEXT) END AS name, recordings FROM sums WHERE recordings > 0 AND (state <> 4 OR :kind = 1)) AS found
WHERE name >= :from AND (:first = 1 OR name > :after) AND name < :end GROUP BY name ORDER BY name LIMIT :limit;
