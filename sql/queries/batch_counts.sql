SELECT state, count(*) FROM batch_items WHERE batch = :batch GROUP BY state;
