-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:formats) AS given CROSS JOIN recordings ON recordings.format = given.value LIMIT :limit
);
