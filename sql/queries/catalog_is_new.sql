-- scan: sqlite_sequence: one row per table
SELECT NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'recordings' AND seq > 0);
