-- How many recordings there are outside of the trash. scan: state_totals: one row a state
SELECT coalesce(sum(recordings), 0) FROM state_totals WHERE state <> 4;
