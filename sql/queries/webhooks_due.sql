-- scan: w: there are 256 at most (WEBHOOKS_MAX); scan: jobs: the index of those that have not ended
-- Hooks with changes to deliver for which no job is about to start.
SELECT row FROM webhooks AS w WHERE w.seq < (SELECT max(seq) FROM changes)
AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = 'webhook' AND key = CAST(w.row AS TEXT) AND state < 2 AND (state = 0 OR again = 1));
