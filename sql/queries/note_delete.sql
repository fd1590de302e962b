DELETE FROM notes WHERE id = :id AND recording = :row;
