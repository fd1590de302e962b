-- How many recordings the words leave, counted no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH :words LIMIT :limit);
