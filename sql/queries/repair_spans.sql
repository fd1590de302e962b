-- scan: r: on request only (fsck)
INSERT OR REPLACE INTO row_spans (block, start_ns, end_ns)
SELECT row / 1024, min(calendar_start_ns), max(calendar_end_ns) FROM recordings AS r WHERE width_ns IS NOT NULL GROUP BY 1;
