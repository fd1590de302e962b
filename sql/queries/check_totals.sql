-- scan: r: on request only (fsck): what triggers keep against what is counted; scan: t: as r; scan: c: as r; scan: scope: two rows; scan: totals_of: as r
SELECT 'of the ' || CASE t.kind WHEN 0 THEN 'format' WHEN 1 THEN 'state' ELSE 'day' END || ' ' || t.name || ' in ' || t.collection || ' the catalog counts ' ||
    t.recordings || ' recordings, ' || t.bytes || ' bytes; there are ' || coalesce(c.n, 0) || ', ' || coalesce(c.b, 0)
FROM totals AS t LEFT JOIN (
    SELECT collection, kind, CAST(name AS TEXT) AS name, count(*) AS n, sum(size) AS b, sum(messages) AS m, sum(ms) AS d FROM totals_of GROUP BY 1, 2, 3
) AS c ON c.collection = t.collection AND c.kind = t.kind AND c.name = t.name
WHERE t.recordings <> coalesce(n, 0) OR t.bytes <> coalesce(b, 0) OR t.messages <> coalesce(m, 0) OR t.duration_ms <> coalesce(d, 0)
UNION ALL
SELECT 'there is no total of ' || c.name || ' in ' || c.collection
FROM (SELECT DISTINCT collection, kind, CAST(name AS TEXT) AS name FROM totals_of) AS c
WHERE NOT EXISTS (SELECT 1 FROM totals AS t WHERE t.collection = c.collection AND t.kind = c.kind AND t.name = c.name);
