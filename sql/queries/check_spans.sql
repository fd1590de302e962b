-- Blocks that begin too late or end too early: what lies outside would not be found. Wider ones only cost time and are not reported. scan: r: on request only (fsck)
SELECT 'of the recordings ' || block * 1024 || ' to ' || (block * 1024 + 1023) || ' the catalog has wrong time spans'
FROM (SELECT row / 1024 AS block, min(calendar_start_ns) AS first, max(calendar_end_ns) AS last FROM recordings AS r WHERE width_ns IS NOT NULL GROUP BY 1)
LEFT JOIN row_spans AS s USING (block) WHERE s.block IS NULL OR s.start_ns > first OR s.end_ns < last;
