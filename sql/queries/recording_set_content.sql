-- The recording is of other files now; their scan is delivered by recording_update_scan in the same transaction.
UPDATE recordings SET content = :content, size = :size, updated_ns = max(:now, updated_ns + 1) WHERE id = :id RETURNING row;
