SELECT collection, sum(recordings) FROM sums
WHERE state <> 4 AND collection >= :from AND (:first = 1 OR collection > :after) AND collection < :end
GROUP BY collection HAVING sum(recordings) > 0 ORDER BY collection LIMIT :limit;
