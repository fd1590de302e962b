-- scan: r: on request only (fsck): what triggers keep against what is counted; scan: s: as r; scan: sums: as r
SELECT 'of ' || collection || ', format "' || format || '", state ' || state || ', day "' || day || '" the sums have ' ||
    sum(iif(kept, n, 0)) || ' recordings, ' || sum(iif(kept, b, 0)) || ' bytes; there are ' || sum(iif(kept, 0, n)) || ', ' || sum(iif(kept, 0, b))
FROM (
    SELECT TRUE AS kept, collection, format, state, day, recordings AS n, bytes AS b, messages AS m, duration_ms AS d FROM sums AS s
    UNION ALL
    SELECT FALSE, collection, format, state, day, count(*), sum(size), sum(messages), sum(counted_ms) FROM recordings AS r
    GROUP BY collection, format, state, day
) AS found
GROUP BY collection, format, state, day
HAVING sum(iif(kept, n, -n)) <> 0 OR sum(iif(kept, b, -b)) <> 0 OR sum(iif(kept, m, -m)) <> 0 OR sum(iif(kept, d, -d)) <> 0;
