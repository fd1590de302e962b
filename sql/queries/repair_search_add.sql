-- With the words that its labels have. scan: r: on request only (fsck)
INSERT INTO search (rowid, name, collection, topics, types, metadata)
SELECT r.row, r.name, r.collection,
    coalesce((SELECT group_concat(l.name, ' ') FROM recording_labels AS k CROSS JOIN labels AS l ON l.id = k.label WHERE k.recording = r.row AND l.kind = 0), ''),
    coalesce((SELECT group_concat(l.name, ' ') FROM recording_labels AS k CROSS JOIN labels AS l ON l.id = k.label WHERE k.recording = r.row AND l.kind = 1), ''),
    coalesce((SELECT group_concat(l.name, ' ') FROM recording_labels AS k CROSS JOIN labels AS l ON l.id = k.label WHERE k.recording = r.row AND l.kind = 2), '')
FROM recordings AS r WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.rowid = r.row);
