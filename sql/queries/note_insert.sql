INSERT INTO notes (id, recording, author, text, created_ns, updated_ns) VALUES (:id, :row, :author, :text, :created, :updated) RETURNING row;
