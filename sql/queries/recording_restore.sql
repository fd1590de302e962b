UPDATE recordings SET state = state_before_trash, updated_ns = max(:now, updated_ns + 1) WHERE id = :id RETURNING row;
