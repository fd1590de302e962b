-- How many recordings this filter leaves, counted no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM recordings INDEXED BY recordings_by_messages WHERE messages BETWEEN :min_messages AND :max_messages AND state <> 4 LIMIT :limit);
