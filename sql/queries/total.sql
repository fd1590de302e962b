-- How many recordings there are outside of the trash. scan: sums: as few as there are combinations of collection, format, state and day
SELECT coalesce(sum(recordings), 0) FROM sums WHERE state <> 4;
