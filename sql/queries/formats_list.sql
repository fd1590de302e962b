-- The formats that there are: a handful. scan: sums: as few as there are combinations of collection, format, state and day
SELECT DISTINCT format FROM sums WHERE recordings > 0;
