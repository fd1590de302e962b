-- scan: f: on request only (fsck): what triggers keep against what is counted; scan: r: as f; scan: s: as f
SELECT 'of state ' || f.state || ' the catalog counts ' || f.recordings || ' recordings, ' || f.bytes || ' bytes; there are ' || n || ', ' || b
FROM state_totals AS f CROSS JOIN (
    SELECT s.state AS state, count(r.row) AS n, coalesce(sum(r.size), 0) AS b, coalesce(sum(r.messages), 0) AS m
    FROM state_totals AS s LEFT JOIN recordings AS r ON r.state = s.state GROUP BY s.state
) AS real ON real.state = f.state
WHERE f.recordings <> n OR f.bytes <> b OR f.messages <> m;
