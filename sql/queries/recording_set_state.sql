UPDATE recordings SET state = iif(state = 4, 4, :state), state_before_trash = :state, problem = :problem, updated_ns = :now WHERE id = :id RETURNING row;
