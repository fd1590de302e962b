-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:groups) AS given CROSS JOIN recordings ON recordings.group_name = given.value AND recordings.group_name <> ''
    LIMIT :limit
);
