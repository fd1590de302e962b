-- The widest class of length that there is.
SELECT max(width_ns) FROM recordings WHERE state <> 4 AND width_ns IS NOT NULL;
