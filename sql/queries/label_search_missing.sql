-- scan: l: on request only (fsck)
SELECT id, json_array(l.kind || l.name), '' FROM labels AS l WHERE NOT EXISTS (SELECT 1 FROM label_search WHERE rowid = l.id) LIMIT 1000;
