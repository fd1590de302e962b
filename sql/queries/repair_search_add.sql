-- scan: r: on request only (fsck)
INSERT INTO search (rowid, text) SELECT row, search_text(name, collection) FROM recordings AS r WHERE NOT EXISTS (SELECT 1 FROM search WHERE rowid = r.row);
