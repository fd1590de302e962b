-- Distinct names of one kind that recordings outside of the trash have.
SELECT name, recordings FROM labels INDEXED BY labels_shown
WHERE kind = :kind AND recordings > 0 AND name >= :from AND (:first OR name > :after) AND name < :end ORDER BY name LIMIT :limit;
