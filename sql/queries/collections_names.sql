SELECT name, recordings FROM collections
WHERE recordings > 0 AND name >= :from AND (:first OR name > :after) AND name < :end ORDER BY name LIMIT :limit;
