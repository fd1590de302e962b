-- Totals of these collections ('' is all of them) added up, by the beginnings of names. may sort
SELECT substr(name, 1, :size) AS part, sum(recordings), sum(bytes), sum(messages), sum(duration_ms)
FROM json_each(:collections) AS given CROSS JOIN totals AS t ON t.collection = given.value
WHERE t.kind = :kind AND t.recordings > 0 GROUP BY part ORDER BY part DESC LIMIT :limit;
