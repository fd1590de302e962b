DELETE FROM label_search WHERE row NOT IN (SELECT id FROM labels);
