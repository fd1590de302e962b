UPDATE recordings SET state = iif(state = 4, 4, :state), state_before_trash = :state, problem = :problem, updated_ns = max(:now, updated_ns + 1) WHERE id = :id RETURNING row;
