-- Fails when the full-text index is not that of its table.
INSERT INTO label_search (label_search) VALUES ('integrity-check');
