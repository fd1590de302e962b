SELECT row, id, author, text, created_ns, updated_ns FROM notes WHERE recording = :row AND row > :after ORDER BY row LIMIT :limit;
