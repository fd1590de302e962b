-- The template of the list. A page selects rows only; counting counts them. list_sql.c includes a line that ends with a mark when it needs the mark,
-- repeats the line marked "each" for every condition on links, and replaces {column}, {after} and the other words in braces. The driving index is one of:
-- the index of the sort (walk), the index of a selective filter, rows that are collected first (collect), rows that are already known (found), or
-- what is in row order by itself: full text, one label or tag, the next rows of several of them, blocks of rows by their times (stream).
-- scan: r: only when counting, which reads everything it counts and runs on request only; scan: width: the seven width classes
SELECT r.row, r.{column} --: page
SELECT count(*) FROM (SELECT r.row --: count
SELECT count(*) FROM (SELECT DISTINCT r.row --: count_links
FROM recordings AS r INDEXED BY {index} --: indexed
FROM recordings AS r NOT INDEXED --: collect
FROM json_each(:found) AS found CROSS JOIN recordings AS r ON r.row = found.value --: found
FROM json_each('[1000000000,16000000000,256000000000,4096000000000,65536000000000,1048576000000000,9223372036854775807]') AS width --: interval
CROSS JOIN recordings AS r INDEXED BY recordings_spans ON r.width_ns = width.value AND r.calendar_start_ns > :start - width.value --: interval
FROM search CROSS JOIN recordings AS r ON r.row = search.rowid --: stream_words
FROM {table} AS driver INDEXED BY {table}_{by} CROSS JOIN recordings AS r ON r.row = driver.recording --: stream_link
FROM {table} AS driver INDEXED BY {table}_{by} CROSS JOIN recordings AS r ON r.row = driver.recording --: count_links
FROM row_spans AS span CROSS JOIN recordings AS r NOT INDEXED ON r.row BETWEEN span.block * 1024 AND span.block * 1024 + 1023 --: stream_spans
WHERE TRUE
AND r.state <> 4 --: shown
AND (r.{column}, r.row) {after} (:key, :row) --: keyset
AND (+r.{column}, +r.row) {after} (:key, :row) --: keyset_interval
AND search MATCH :words --: stream_words
AND search.rowid {after} :row --: keyset_words
AND driver.{by} = :driving_id --: stream_link
AND driver.recording {after} :row --: keyset_link
AND driver.{by} IN (SELECT value FROM json_each(:driving_ids)) --: count_links
AND r.row IN (SELECT link.recording FROM {table} AS link INDEXED BY {table}_{by} --: next_links
    WHERE link.{by} IN (SELECT value FROM json_each(:driving_ids)) AND link.recording {after} :row ORDER BY link.recording {order} LIMIT :window) --: next_links
AND span.block {after}= :row / 1024 AND span.start_ns < :end AND span.end_ns >= :start --: stream_spans
AND r.row {after} :row --: keyset_spans
AND r.row IN (SELECT rowid FROM search WHERE search MATCH :words) --: selective_words
AND EXISTS (SELECT 1 FROM search WHERE search MATCH :words AND search.rowid = r.row) --: words_each
AND +r.row IN (SELECT rowid FROM search WHERE search MATCH :words) --: words_all
AND +r.row NOT IN (SELECT rowid FROM search WHERE search MATCH :without) --: without
AND r.row IN (SELECT link.recording FROM {table} AS link INDEXED BY {table}_{by} --: selective_link
    WHERE link.{by} IN (SELECT value FROM json_each(:driving_ids))) --: selective_link
AND {not}EXISTS (SELECT 1 FROM {table} AS link WHERE link.recording = r.row AND +link.{by} IN (SELECT value FROM json_each(:ids{n}))) --: each
AND r.collection IN (SELECT value FROM json_each(:collections)) --: collections
AND r.collection NOT IN (SELECT value FROM json_each(:no_collections)) --: no_collections
AND r.collection IN (SELECT value FROM json_each(:allowed)) --: allowed
AND r.group_name IN (SELECT value FROM json_each(:groups)) AND r.group_name <> '' --: groups
AND r.group_name NOT IN (SELECT value FROM json_each(:no_groups)) --: no_groups
AND r.format IN (SELECT value FROM json_each(:formats)) --: formats
AND r.format NOT IN (SELECT value FROM json_each(:no_formats)) --: no_formats
AND r.state IN (SELECT value FROM json_each(:states)) --: states
AND r.state NOT IN (SELECT value FROM json_each(:no_states)) --: no_states
AND r.damaged = 1 --: damaged
AND r.damaged = 0 --: intact
AND r.size BETWEEN :min_size AND :max_size --: size
AND r.duration_ns BETWEEN :min_duration AND :max_duration --: duration
AND r.messages BETWEEN :min_messages AND :max_messages --: messages
AND r.width_ns IS NOT NULL --: times
AND r.calendar_start_ns < :end --: end
AND +r.calendar_start_ns < :end --: end_walked
AND r.calendar_end_ns >= :start --: start
AND +r.calendar_end_ns >= :start --: start_walked
AND r.calendar_start_ns >= :floor --: floor
AND r.calendar_end_ns < :ceiling --: ceiling
ORDER BY r.{column} {order}, r.row {order} --: keyset
ORDER BY r.{column} {order}, r.row {order} --: keyset_interval
ORDER BY search.rowid {order} --: keyset_words
ORDER BY driver.recording {order} --: keyset_link
ORDER BY span.block {order}, r.row {order} --: keyset_spans
LIMIT :limit OFFSET :offset --: page
LIMIT :counted) --: counting
