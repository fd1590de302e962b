SELECT name, recordings FROM tag_keys INDEXED BY tag_keys_shown
WHERE recordings > 0 AND name >= :from AND name > :after AND name < :end ORDER BY name LIMIT :limit;
