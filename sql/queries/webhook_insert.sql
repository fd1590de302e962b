-- It receives the changes from now on. row 0: a new one. scan: sqlite_sequence: a row a table
INSERT INTO webhooks (row, url, events, collections, secret, created_ns, seq)
VALUES (nullif(:row, 0), :url, :events, :collections, :secret, :now,
    coalesce((SELECT max(seq) FROM changes), (SELECT seq FROM sqlite_sequence WHERE name = 'changes'))) RETURNING row;
