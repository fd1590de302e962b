-- scan: l: on request only (fsck)
INSERT INTO label_search (rowid, text) SELECT id, search_text(name) FROM labels AS l WHERE NOT EXISTS (SELECT 1 FROM label_search WHERE rowid = l.id);
