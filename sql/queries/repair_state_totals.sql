-- scan: state_totals: on request only (fsck)
UPDATE state_totals SET (recordings, bytes, messages) =
    (SELECT count(*), coalesce(sum(size), 0), coalesce(sum(messages), 0) FROM recordings AS r WHERE r.state = state_totals.state);
