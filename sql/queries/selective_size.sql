-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM recordings INDEXED BY recordings_by_size WHERE size BETWEEN :min_size AND :max_size AND state <> 4 LIMIT :limit);
