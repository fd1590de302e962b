-- name: found_tag_values
-- Counted over recordings that were found, which are a bounded number. may sort
SELECT v.value, count(*) FROM {ints :rows} AS found
CROSS JOIN recording_tags AS link ON link.recording = found.value
    AND link.key = (SELECT id FROM tag_keys WHERE name = :key)
CROSS JOIN tag_values AS v ON v.id = link.value
WHERE v.value >= :from AND (:first = 1 OR v.value > :after) AND v.value < :end
GROUP BY v.value ORDER BY v.value LIMIT :limit;

-- name: found_tag_keys
-- Counted over recordings that were found, which are a bounded number. may sort
SELECT k.name, count(*) FROM {ints :rows} AS found CROSS JOIN recording_tags AS link ON link.recording = found.value
CROSS JOIN tag_keys AS k ON k.id = link.key
WHERE k.name >= :from AND (:first = 1 OR k.name > :after) AND k.name < :end
GROUP BY k.name ORDER BY k.name LIMIT :limit;

-- name: found_column
-- Counted over recordings that were found, which are a bounded number. kind: 0 by format, 1 by state, 2 by collection.
-- may sort
SELECT name, count(*) FROM (
    SELECT CASE :kind WHEN 0 THEN r.format WHEN 1 THEN CAST(r.state AS TEXT) ELSE r.collection END AS name
    FROM recordings AS r WHERE r.row {in rows :rows}
) AS found
WHERE name >= :from AND (:first = 1 OR name > :after) AND name < :end GROUP BY name ORDER BY name LIMIT :limit;

-- name: found_labels
-- Counted over recordings that were found, which are a bounded number, by their sets of labels.
-- scan: f: the few sets. may sort
SELECT l.name, sum(f.n)
FROM (SELECT iif(:kind = 2, r.metadata_labels, r.channel_labels) AS label_set, count(*) AS n
    FROM recordings AS r WHERE r.row {in rows :rows} GROUP BY 1) AS f
CROSS JOIN label_set_labels AS k ON k.label_set = f.label_set CROSS JOIN labels AS l ON l.id = k.label
WHERE l.kind = :kind AND l.name >= :from AND (:first = 1 OR l.name > :after) AND l.name < :end
GROUP BY l.name ORDER BY l.name LIMIT :limit;

-- name: found_spans
-- When recordings that were found, a bounded number, are on the calendar. may sort
SELECT r.collection, r.calendar_start_ns, r.calendar_end_ns, r.messages
FROM recordings AS r WHERE r.row {in rows :rows} AND r.width_ns IS NOT NULL ORDER BY r.collection, r.calendar_start_ns;

-- name: counted_labels
-- Of sets of labels of which it is known how many recordings that were found have them: each the set << 32 and that
-- number. may sort
SELECT l.name, sum(f.value & 4294967295)
FROM {ints :rows} AS f CROSS JOIN label_set_labels AS k ON k.label_set = f.value >> 32
CROSS JOIN labels AS l ON l.id = k.label
WHERE l.kind = :kind AND l.name >= :from AND (:first = 1 OR l.name > :after) AND l.name < :end
GROUP BY l.name ORDER BY l.name LIMIT :limit;

-- name: counted_tag_values
-- The same of values of a tag. may sort
SELECT v.value, sum(f.value & 4294967295) FROM {ints :rows} AS f CROSS JOIN tag_values AS v ON v.id = f.value >> 32
WHERE v.value >= :from AND (:first = 1 OR v.value > :after) AND v.value < :end
GROUP BY v.value ORDER BY v.value LIMIT :limit;
