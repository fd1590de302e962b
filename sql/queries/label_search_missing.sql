-- scan: l: on request only (fsck)
SELECT id, name, '', kind FROM labels AS l WHERE NOT EXISTS (SELECT 1 FROM label_search WHERE rowid = l.id) LIMIT 1000;
