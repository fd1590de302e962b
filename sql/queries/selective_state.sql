-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:states) AS wanted CROSS JOIN recordings ON recordings.state = wanted.value LIMIT :limit
);
