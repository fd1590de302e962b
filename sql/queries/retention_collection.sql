-- The next collection, and what is in it outside of the trash.
SELECT collection, sum(bytes) FROM sums WHERE collection > :name AND state <> 4 GROUP BY collection ORDER BY collection LIMIT 1;
