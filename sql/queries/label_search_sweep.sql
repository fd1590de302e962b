-- scan: labels_deleted: what this transaction deletes
DELETE FROM label_search WHERE rowid IN (SELECT id FROM labels_deleted);
