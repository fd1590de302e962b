SELECT recording, sha256, size, file_name FROM parts WHERE recording IN (SELECT value FROM json_each(:rows)) ORDER BY recording, position;
