UPDATE recordings SET state = 4, updated_ns = max(:now, updated_ns + 1) WHERE id = :id RETURNING row;
