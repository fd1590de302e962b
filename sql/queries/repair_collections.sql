-- scan: collections: on request only (fsck)
UPDATE collections SET (recordings, bytes, messages, duration_ms) = (
    SELECT count(*), coalesce(sum(size), 0), coalesce(sum(messages), 0), coalesce(sum(min(duration_ns / 1000000, 3155760000000)), 0)
    FROM recordings AS r WHERE r.collection = collections.name AND state <> 4);
