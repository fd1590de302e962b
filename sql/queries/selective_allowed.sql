-- How many recordings these collections leave, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:allowed) AS allowed CROSS JOIN recordings ON recordings.collection = allowed.value LIMIT :limit
);
