-- scan: r: on request only (fsck); scan: k: as r; scan: counted: as r
SELECT 'of the collection ' || k.name || ' the catalog counts ' || k.recordings || ' recordings, ' || k.bytes || ' bytes; there are ' ||
    coalesce(counted.n, 0) || ', ' || coalesce(counted.b, 0)
FROM collections AS k LEFT JOIN (
    SELECT collection AS name, count(*) AS n, sum(size) AS b, sum(messages) AS m, sum(min(duration_ns / 1000000, 3155760000000)) AS d
    FROM recordings AS r WHERE state <> 4 GROUP BY collection
) AS counted ON counted.name = k.name
WHERE k.recordings <> coalesce(n, 0) OR k.bytes <> coalesce(b, 0) OR k.messages <> coalesce(m, 0) OR k.duration_ms <> coalesce(d, 0)
UNION ALL
SELECT DISTINCT 'the collection ' || collection || ' is not in the list of collections' FROM recordings AS r
WHERE state <> 4 AND NOT EXISTS (SELECT 1 FROM collections WHERE name = r.collection);
