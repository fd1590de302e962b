-- name: webhook_insert
-- It receives the changes from now on. row 0: a new one.
INSERT INTO webhooks (row, url, events, collections, secret, created_ns, seq)
VALUES (coalesce(nullif(:row, 0), nextval('webhooks_row_seq')), :url, :events, :collections, :secret, :now,
    coalesce((SELECT max(seq) FROM changes), (SELECT last_value FROM changes_seq_seq))) RETURNING row;
