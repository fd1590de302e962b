UPDATE batch_items SET state = :state, problem = :problem WHERE batch = :batch AND position = :position;
