DELETE FROM label_search WHERE row IN (SELECT id FROM labels_deleted);
