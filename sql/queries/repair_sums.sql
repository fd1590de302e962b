-- A combination that no recording has keeps a row of zeros. scan: r: on request only (fsck); scan: sums: as r
INSERT INTO sums
SELECT collection, format, state, day, sum(n), sum(b), sum(m), sum(d) FROM (
    SELECT collection, format, state, day, 1 AS n, size AS b, messages AS m, counted_ms AS d FROM recordings AS r
    UNION ALL SELECT collection, format, state, day, 0, 0, 0, 0 FROM sums
) AS found
GROUP BY collection, format, state, day
ON CONFLICT (collection, format, state, day) DO UPDATE SET recordings = excluded.recordings, bytes = excluded.bytes,
    messages = excluded.messages, duration_ms = excluded.duration_ms;
