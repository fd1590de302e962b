-- name: batch_item_insert
INSERT INTO batch_items (batch, position, recording, collection, name, new_name, created_ns)
VALUES (:batch, :position, :recording, :collection, :name, :new_name, :now);

-- name: batch_items_after
SELECT position, recording, collection, name, new_name, state, problem FROM batch_items
WHERE batch = :batch AND position > :after
ORDER BY position LIMIT :limit;

-- name: batch_item_done
UPDATE batch_items SET state = :state, problem = :problem WHERE batch = :batch AND position = :position;

-- name: batch_counts
SELECT state, count(*) FROM batch_items WHERE batch = :batch GROUP BY state;

-- name: batch_items_trim
DELETE FROM batch_items WHERE created_ns < :before;
