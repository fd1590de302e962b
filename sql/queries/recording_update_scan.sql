-- The results of a scan. For a trashed recording they become its state after it is restored.
UPDATE recordings SET state = iif(state = 4, 4, :state), state_before_trash = :state, {scanned}, updated_ns = max(:now, updated_ns + 1)
WHERE id = :id RETURNING row;
