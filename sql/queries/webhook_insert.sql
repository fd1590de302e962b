-- It is told of what comes from now on. scan: sqlite_sequence: a row a table
INSERT INTO webhooks (url, events, collections, secret, created_ns, seq)
VALUES (:url, :events, :collections, :secret, :now,
    coalesce((SELECT max(seq) FROM changes), (SELECT seq FROM sqlite_sequence WHERE name = 'changes'))) RETURNING row;
