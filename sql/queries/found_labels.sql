-- Counted over recordings that were found, which are a bounded number, by their sets of labels. scan: f: the few sets. may sort
SELECT l.name, sum(f.n)
FROM (SELECT iif(:kind = 2, r.metadata_labels, r.channel_labels) AS label_set, count(*) AS n
    FROM recordings AS r WHERE r.row {in rows :rows} GROUP BY 1) AS f
CROSS JOIN label_set_labels AS k ON k.label_set = f.label_set CROSS JOIN labels AS l ON l.id = k.label
WHERE l.kind = :kind AND l.name >= :from AND (:first = 1 OR l.name > :after) AND l.name < :end GROUP BY l.name ORDER BY l.name LIMIT :limit;
