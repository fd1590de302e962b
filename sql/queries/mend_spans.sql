-- scan: r: by hand only
INSERT OR REPLACE INTO row_spans (block, start_ns, end_ns)
SELECT row / 1024, min(placed_start_ns), max(placed_end_ns) FROM recordings AS r WHERE width_ns IS NOT NULL GROUP BY 1;
