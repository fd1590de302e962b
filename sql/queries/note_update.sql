UPDATE notes SET text = :text, updated_ns = max(:now, updated_ns + 1) WHERE id = :id AND recording = :row
RETURNING row, id, author, text, created_ns, updated_ns;
