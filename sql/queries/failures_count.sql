-- How many there are, counted no further than :limit.
-- scan: failures: bounded by :limit
SELECT count(*) FROM (SELECT 1 FROM failures LIMIT :limit) AS found;
