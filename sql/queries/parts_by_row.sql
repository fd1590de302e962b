SELECT sha256, size, file_name FROM parts WHERE recording = :row ORDER BY position;
