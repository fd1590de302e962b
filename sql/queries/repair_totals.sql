-- scan: r: on request only (fsck); scan: scope: two rows; scan: totals_of: as r
INSERT INTO totals (collection, kind, name, recordings, bytes, messages, duration_ms)
SELECT collection, kind, CAST(name AS TEXT), count(*), sum(size), sum(messages), sum(ms) FROM totals_of GROUP BY 1, 2, 3;
