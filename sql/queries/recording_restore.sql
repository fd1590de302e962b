UPDATE recordings SET state = state_before_trash, updated_ns = :now WHERE id = :id RETURNING row;
