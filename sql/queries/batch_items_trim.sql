DELETE FROM batch_items WHERE created_ns < :before;
