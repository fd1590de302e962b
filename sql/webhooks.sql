-- name: webhooks_after
SELECT row, url, events, collections, secret, created_ns, seq, tries, next_ns, delivered, dropped FROM webhooks
WHERE row > :row ORDER BY row LIMIT :limit;

-- name: webhooks_due
-- scan: w: there are 256 at most (WEBHOOKS_MAX); scan: jobs: the index of those that have not ended
-- Hooks with changes to deliver for which no job is about to start.
SELECT row FROM webhooks AS w
WHERE w.seq < (SELECT max(seq) FROM changes) AND NOT EXISTS (SELECT 1 FROM jobs
    WHERE kind = 'webhook' AND key = CAST(w.row AS TEXT) AND state < 2 AND (state = 0 OR again = 1));

-- name: webhooks_count
-- scan: webhooks: a few dozen at most (WEBHOOKS_MAX)
SELECT count(*) FROM webhooks;

-- name: webhook_insert
-- It receives the changes from now on. row 0: a new one. scan: sqlite_sequence: a row a table
INSERT INTO webhooks (row, url, events, collections, secret, created_ns, seq)
VALUES (nullif(:row, 0), :url, :events, :collections, :secret, :now,
    coalesce((SELECT max(seq) FROM changes), (SELECT seq FROM sqlite_sequence WHERE name = 'changes'))) RETURNING row;

-- name: webhook_delete
DELETE FROM webhooks WHERE row = :row;

-- name: webhook_moved
-- dropped: changes that are not delivered to it.
UPDATE webhooks SET seq = max(seq, :seq), dropped = dropped + :dropped WHERE row = :row;

-- name: webhook_delivered
UPDATE webhooks SET seq = max(seq, :seq), tries = 0, next_ns = 0, delivered = delivered + 1 WHERE row = :row;

-- name: webhook_failed
UPDATE webhooks SET tries = tries + 1, next_ns = :next WHERE row = :row;

-- name: webhook_result_insert
-- Nothing when the webhook has been deleted meanwhile.
INSERT INTO webhook_results (webhook, seq, time_ns, took_ms, status, problem)
SELECT row, :seq, :now, :took, :status, :problem FROM webhooks WHERE row = :row;

-- name: webhook_results
SELECT seq, time_ns, took_ms, status, problem FROM webhook_results WHERE webhook = :row ORDER BY row DESC LIMIT 20;

-- name: webhook_set_collections
UPDATE webhooks SET collections = :collections WHERE row = :row;
