-- How many recordings there are outside of the trash. scan: figures: one row a state
SELECT coalesce(sum(recordings), 0) FROM figures WHERE state <> 4;
