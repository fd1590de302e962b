-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM recordings INDEXED BY recordings_by_duration_ns WHERE duration_ns BETWEEN :min_duration AND :max_duration AND state <> 4 LIMIT :limit
);
