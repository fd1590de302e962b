-- scan: sqlite_sequence: a few rows, one a table
SELECT NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'recordings' AND seq > 0);
