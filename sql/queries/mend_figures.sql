-- scan: figures: by hand only
UPDATE figures SET (recordings, bytes, messages) =
    (SELECT count(*), coalesce(sum(size), 0), coalesce(sum(messages), 0) FROM recordings AS r WHERE r.state = figures.state);
