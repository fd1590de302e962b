-- name: note_insert
INSERT INTO notes (id, recording, author, text, created_ns, updated_ns)
VALUES (:id, :row, :author, :text, :created, :updated) RETURNING row;

-- name: note_update
UPDATE notes SET text = :text, updated_ns = max(:now, updated_ns + 1) WHERE id = :id AND recording = :row
RETURNING row, id, author, text, created_ns, updated_ns;

-- name: note_delete
DELETE FROM notes WHERE id = :id AND recording = :row;

-- name: notes_of_recording
SELECT row, id, author, text, created_ns, updated_ns FROM notes
WHERE recording = :row AND row > :after ORDER BY row LIMIT :limit;
