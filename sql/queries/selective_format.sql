-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:formats) AS wanted CROSS JOIN recordings ON recordings.format = wanted.value LIMIT :limit
);
