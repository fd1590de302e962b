-- name: check_keys
SELECT 'a row of ' || "table" || ' refers to a row of ' || parent || ' that does not exist'
FROM pragma_foreign_key_check;

-- name: check_sums
-- scan: r: on request only (fsck): what triggers keep against what is counted; scan: s: as r; scan: sums: as r
SELECT 'of ' || collection || ', format "' || format || '", state ' || state || ', day "' || day ||
    '" the sums have ' || sum(iif(kept, n, 0)) || ' recordings, ' || sum(iif(kept, b, 0)) ||
    ' bytes; there are ' || sum(iif(kept, 0, n)) || ', ' || sum(iif(kept, 0, b))
FROM (
    SELECT TRUE AS kept, collection, format, state, day, recordings AS n, bytes AS b, messages AS m, duration_ms AS d
    FROM sums AS s
    UNION ALL
    SELECT FALSE, collection, format, state, day, count(*), sum(size), sum(messages), sum(counted_ms)
    FROM recordings AS r GROUP BY collection, format, state, day
) AS found
GROUP BY collection, format, state, day
HAVING sum(iif(kept, n, -n)) <> 0 OR sum(iif(kept, b, -b)) <> 0 OR sum(iif(kept, m, -m)) <> 0
    OR sum(iif(kept, d, -d)) <> 0;

-- name: check_labels
-- scan: s: on request only (fsck)
SELECT 'of a set of topics, types or metadata the catalog counts ' || recordings || ' recordings; there are ' || n
FROM (SELECT recordings, (SELECT count(*) FROM recordings AS r WHERE r.channel_labels = s.id AND r.state <> 4) +
        (SELECT count(*) FROM recordings AS r WHERE r.metadata_labels = s.id AND r.state <> 4) AS n
    FROM label_sets AS s) AS found
WHERE recordings <> n;

-- name: check_tags
-- scan: k: on request only (fsck); scan: v: as k
SELECT 'of the tag ' || k.name || ' the catalog counts ' || k.recordings || ' recordings; there are ' || n
FROM (SELECT id, name, recordings, (SELECT count(*)
        FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording
        WHERE t.key = k.id AND r.state <> 4) AS n
    FROM tag_keys AS k) AS k
WHERE k.recordings <> n
UNION ALL
SELECT 'of the tag value ' || v.value || ' the catalog counts ' || v.recordings || ' recordings; there are ' || n
FROM (SELECT id, value, recordings, (SELECT count(*)
        FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording
        WHERE t.value = v.id AND r.state <> 4) AS n
    FROM tag_values AS v) AS v
WHERE v.recordings <> n;

-- name: check_annotations
-- scan: r: on request only (fsck)
SELECT 'of ' || collection || '/' || name || ' the catalog counts ' || notes || ' notes and ' || events ||
    ' events; there are ' || n || ' and ' || e
FROM (SELECT collection, name, notes, events, (SELECT count(*) FROM notes AS x WHERE x.recording = r.row) AS n,
        (SELECT count(*) FROM events AS x WHERE x.recording = r.row) AS e
    FROM recordings AS r) AS r
WHERE notes <> n OR events <> e;

-- name: check_titles
-- scan: e: on request only (fsck); scan: t: as e; scan: v: as e
SELECT 'of the event title ' || title || ' the catalog counts ' || sum(kept) || ' events of a recording; there are ' || sum(n)
FROM (
    SELECT t.recording, l.name AS title, t.events AS kept, 0 AS n FROM event_titles AS t CROSS JOIN labels AS l ON l.id = t.label
    UNION ALL SELECT recording, title, 0, count(*) FROM events AS e GROUP BY recording, title
) AS found
GROUP BY recording, title HAVING sum(kept) <> sum(n)
UNION ALL
SELECT 'the tag value ' || value || ' has no label' FROM tag_values AS v
WHERE NOT EXISTS (SELECT 1 FROM labels AS l WHERE l.id = v.label AND l.kind = 3 AND l.name = v.value);

-- name: check_search
-- scan: r: on request only (fsck); scan: s: as r; scan: l: as r
SELECT collection || '/' || name || ' is missing from the full-text index' FROM recordings AS r
WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.rowid = r.row AND s.text = search_text(r.name, r.collection))
UNION ALL
SELECT 'the full-text index has a recording that does not exist' FROM search AS s
WHERE NOT EXISTS (SELECT 1 FROM recordings AS r WHERE r.row = s.rowid)
UNION ALL
SELECT name || ' is missing from the full-text index of topics, types and metadata' FROM labels AS l
WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.rowid = l.id AND s.text = search_text(l.name))
UNION ALL
SELECT 'the full-text index has a topic, type or metadata that does not exist' FROM label_search AS s
WHERE NOT EXISTS (SELECT 1 FROM labels AS l WHERE l.id = s.rowid);

-- name: check_words
-- Fails when the full-text index is not that of its table.
INSERT INTO search (search) VALUES ('integrity-check');

-- name: check_label_words
-- Fails when the full-text index is not that of its table.
INSERT INTO label_search (label_search) VALUES ('integrity-check');

-- name: repair_sums
-- A combination that no recording has keeps a row of zeros. scan: r: on request only (fsck); scan: sums: as r
INSERT INTO sums
SELECT collection, format, state, day, sum(n), sum(b), sum(m), sum(d) FROM (
    SELECT collection, format, state, day, 1 AS n, size AS b, messages AS m, counted_ms AS d FROM recordings AS r
    UNION ALL SELECT collection, format, state, day, 0, 0, 0, 0 FROM sums
) AS found
GROUP BY collection, format, state, day
ON CONFLICT (collection, format, state, day) DO UPDATE SET recordings = excluded.recordings, bytes = excluded.bytes,
    messages = excluded.messages, duration_ms = excluded.duration_ms;

-- name: repair_labels
-- scan: label_sets: on request only (fsck)
UPDATE label_sets SET recordings =
    (SELECT count(*) FROM recordings AS r WHERE r.channel_labels = label_sets.id AND r.state <> 4) +
    (SELECT count(*) FROM recordings AS r WHERE r.metadata_labels = label_sets.id AND r.state <> 4);

-- name: repair_tag_keys
-- scan: tag_keys: on request only (fsck)
UPDATE tag_keys SET recordings = (
    SELECT count(*) FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording
    WHERE t.key = tag_keys.id AND r.state <> 4);

-- name: repair_tag_values
-- scan: tag_values: on request only (fsck)
UPDATE tag_values SET recordings = (
    SELECT count(*) FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording
    WHERE t.value = tag_values.id AND r.state <> 4);

-- name: repair_annotations
-- scan: recordings: on request only (fsck)
UPDATE recordings SET notes = (SELECT count(*) FROM notes AS x WHERE x.recording = recordings.row),
    events = (SELECT count(*) FROM events AS x WHERE x.recording = recordings.row)
WHERE notes <> (SELECT count(*) FROM notes AS x WHERE x.recording = recordings.row)
    OR events <> (SELECT count(*) FROM events AS x WHERE x.recording = recordings.row);

-- name: repair_titles_clear
-- scan: event_titles: on request only (fsck)
DELETE FROM event_titles;

-- name: repair_title_labels
-- scan: e: on request only (fsck); scan: v: as e
INSERT INTO labels (kind, name) SELECT 4, title FROM events AS e UNION SELECT 3, value FROM tag_values AS v WHERE TRUE
ON CONFLICT (kind, name) DO NOTHING;

-- name: repair_titles
-- scan: e: on request only (fsck)
INSERT INTO event_titles (recording, label, events)
SELECT e.recording, l.id, count(*) FROM events AS e CROSS JOIN labels AS l ON l.kind = 4 AND l.name = e.title
GROUP BY e.recording, l.id;

-- name: repair_tag_labels
-- scan: tag_values: on request only (fsck)
UPDATE tag_values SET label = (SELECT id FROM labels AS l WHERE l.kind = 3 AND l.name = tag_values.value);

-- name: repair_search_rebuild
INSERT INTO search (search) VALUES ('rebuild');

-- name: repair_search_drop
-- scan: s: on request only (fsck)
DELETE FROM search WHERE rowid IN (
    SELECT s.rowid FROM search AS s LEFT JOIN recordings AS r ON r.row = s.rowid
    WHERE r.row IS NULL OR s.text <> search_text(r.name, r.collection));

-- name: repair_label_words_rebuild
INSERT INTO label_search (label_search) VALUES ('rebuild');

-- name: repair_label_words_drop
-- scan: s: on request only (fsck)
DELETE FROM label_search WHERE rowid IN (
    SELECT s.rowid FROM label_search AS s LEFT JOIN labels AS l ON l.id = s.rowid
    WHERE l.id IS NULL OR s.text <> search_text(l.name));
