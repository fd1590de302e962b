-- Formats, or states: a handful.
SELECT name, recordings FROM totals
WHERE collection = '' AND kind = :kind AND recordings > 0 AND name >= :from AND (:first OR name > :after) AND name < :end ORDER BY name LIMIT :limit;
