-- Fails when the full-text index is not that of its table.
INSERT INTO search (search) VALUES ('integrity-check');
