-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM recordings WHERE damaged = 1 LIMIT :limit);
