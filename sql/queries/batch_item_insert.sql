INSERT INTO batch_items (batch, position, recording, collection, name, new_name, created_ns)
VALUES (:batch, :position, :recording, :collection, :name, :new_name, :now);
