-- The recording gets other files; recording_update_scan writes their scan in the same transaction.
UPDATE recordings SET content = :content, size = :size, updated_ns = max(:now, updated_ns + 1) WHERE id = :id RETURNING row;
