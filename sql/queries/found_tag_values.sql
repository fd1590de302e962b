-- Counted over recordings that were found, which are a bounded number. may sort
SELECT v.value, count(*) FROM {ints :rows} AS found
CROSS JOIN recording_tags AS link ON link.recording = found.value AND link.key = (SELECT id FROM tag_keys WHERE name = :key)
CROSS JOIN tag_values AS v ON v.id = link.value
WHERE v.value >= :from AND (:first = 1 OR v.value > :after) AND v.value < :end GROUP BY v.value ORDER BY v.value LIMIT :limit;
