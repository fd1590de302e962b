-- scan: sums: as few as there are combinations of collection, format, state and day
SELECT state, sum(recordings), sum(bytes), sum(messages) FROM sums GROUP BY state;
