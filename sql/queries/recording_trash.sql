UPDATE recordings SET state = 4, updated_ns = :now WHERE id = :id RETURNING row;
