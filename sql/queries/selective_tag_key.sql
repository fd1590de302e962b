-- How many recordings these keys of tags leave, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:ids) AS given CROSS JOIN recording_tags AS link ON link.key = given.value LIMIT :limit
);
