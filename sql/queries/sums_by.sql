-- Sums by format (:kind 0), state (1) or day (2, the first :size characters), of some collections or of all; without the trash unless by state.
-- scan: sums: as few as there are combinations of collection, format, state and day. may sort
SELECT CASE :kind WHEN 0 THEN format WHEN 1 THEN CAST(state AS TEXT) ELSE substr(day, 1, :size) END AS part,
    sum(recordings), sum(bytes), sum(messages), sum(duration_ms)
FROM sums WHERE recordings > 0 AND (state <> 4 OR :kind = 1) AND (:all = 1 OR collection {in texts :collections})
GROUP BY part ORDER BY part DESC LIMIT :limit;
