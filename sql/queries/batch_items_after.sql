SELECT position, recording, collection, name, new_name, state, problem FROM batch_items WHERE batch = :batch AND position > :after
ORDER BY position LIMIT :limit;
