-- name: changes_ends
-- As for SQLite.
SELECT coalesce((SELECT min(seq) FROM changes), (SELECT last_value + 1 FROM changes_seq_seq)),
    coalesce((SELECT max(seq) FROM changes), (SELECT last_value FROM changes_seq_seq));
