-- How many recordings these labels leave, counted no further than :limit; one that has several of them counts as often.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(:ids) AS given CROSS JOIN recording_labels AS link ON link.label = given.value LIMIT :limit
);
