-- Counted over recordings that were found, which are a bounded number. may sort
SELECT k.name, count(*) FROM {ints :rows} AS found CROSS JOIN recording_tags AS link ON link.recording = found.value
CROSS JOIN tag_keys AS k ON k.id = link.key
WHERE k.name >= :from AND (:first = 1 OR k.name > :after) AND k.name < :end GROUP BY k.name ORDER BY k.name LIMIT :limit;
