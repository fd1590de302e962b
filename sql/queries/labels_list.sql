-- Distinct names of one kind that recordings outside of the trash have.
SELECT name, recordings FROM (
    SELECT name, (SELECT sum(s.recordings) FROM label_set_labels AS k CROSS JOIN label_sets AS s ON s.id = k.label_set WHERE k.label = l.id) AS recordings
    FROM labels AS l WHERE kind = :kind AND name >= :from AND (:first = 1 OR name > :after) AND name < :end
) AS found WHERE recordings > 0 ORDER BY name LIMIT :limit;
