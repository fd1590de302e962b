-- Counted over recordings that were found, which are a bounded number. may sort
SELECT l.name, count(*) FROM json_each(:rows) AS found CROSS JOIN recording_labels AS link ON link.recording = found.value
CROSS JOIN labels AS l ON l.id = link.label
WHERE l.kind = :kind AND l.name >= :from AND (:first OR l.name > :after) AND l.name < :end GROUP BY l.name ORDER BY l.name LIMIT :limit;
