-- A page of the list: only the rows; or, counting, how many there are. list.c keeps a line that ends with a mark when it wants the mark, and puts
-- words in for {column}, {after}, {order} and {index}. The way in is one of: the index of the sort (walk), an index of a filter that leaves few
-- (few), few labels or words gathered first, or the words themselves, which come in the order of rows (stream).
-- scan: r: only when counting, which looks at everything it counts and is done when asked for
SELECT r.row, r.{column} --: page
SELECT count(*) --: count
FROM recordings AS r INDEXED BY {index} --: indexed
FROM recordings AS r NOT INDEXED --: gather
FROM search CROSS JOIN recordings AS r ON r.row = search.rowid --: stream
WHERE TRUE
AND r.state <> 4 --: shown
AND r.state = :state --: state
AND (r.{column}, r.row) {after} (:key, :row) --: keyset
AND search.rowid {after} :row --: keyset_stream
AND search MATCH :words --: stream
AND r.row IN (SELECT rowid FROM search WHERE search MATCH :words) --: few_words
AND EXISTS (SELECT 1 FROM search WHERE search MATCH :words AND search.rowid = r.row) --: words
AND r.row IN ( --: few_label
    SELECT link.recording FROM labels CROSS JOIN recording_labels AS link ON link.label = labels.id --: few_label
    WHERE labels.kind = :kind AND glob_match(:glob, labels.name)) --: few_label
AND r.collection = :collection --: collection
AND r.format = :format --: format
AND r.damaged = 1 --: damaged
AND r.clock = 0 AND r.messages > 0 --: times
AND r.start_ns < :end --: end
AND r.end_ns >= :start --: start
AND NOT EXISTS (SELECT 1 FROM json_each(:topics) AS wanted WHERE NOT EXISTS ( --: topics
    SELECT 1 FROM recording_labels AS link CROSS JOIN labels ON labels.id = link.label --: topics
    WHERE link.recording = r.row AND labels.kind = 0 AND glob_match(wanted.value, labels.name))) --: topics
AND NOT EXISTS (SELECT 1 FROM json_each(:types) AS wanted WHERE NOT EXISTS ( --: types
    SELECT 1 FROM recording_labels AS link CROSS JOIN labels ON labels.id = link.label --: types
    WHERE link.recording = r.row AND labels.kind = 1 AND glob_match(wanted.value, labels.name))) --: types
ORDER BY r.{column} {order}, r.row {order} --: keyset
ORDER BY search.rowid {order} --: keyset_stream
LIMIT :limit OFFSET :offset --: page
