-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:states) AS given CROSS JOIN recordings ON recordings.state = given.value LIMIT :limit
);
