SELECT value, recordings FROM tag_values INDEXED BY tag_values_shown
WHERE recordings > 0 AND key = (SELECT id FROM tag_keys WHERE name = :key) AND value >= :from AND (:first = 1 OR value > :after) AND value < :end
ORDER BY value LIMIT :limit;
