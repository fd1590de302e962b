INSERT INTO parts (recording, position, sha256, size, file_name) VALUES (:row, :position, :sha256, :size, :file_name);
