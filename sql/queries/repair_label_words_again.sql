INSERT INTO label_search (label_search) VALUES ('rebuild');
