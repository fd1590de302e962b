INSERT INTO events (id, recording, start_ns, end_ns, author, created_ns, updated_ns, title, tags)
VALUES (:id, :row, :start, :end, :author, :created, :updated, :title, :tags) RETURNING row;
