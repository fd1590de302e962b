-- The oldest and the newest that are kept; where there are none, between which two the next will be. scan: sqlite_sequence: a row a table
SELECT coalesce((SELECT min(seq) FROM changes), (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'changes')),
    coalesce((SELECT max(seq) FROM changes), (SELECT seq FROM sqlite_sequence WHERE name = 'changes'));
