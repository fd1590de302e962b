SELECT recording, sha256, size, file_name FROM parts WHERE recording IN (SELECT value FROM {ints :rows}) ORDER BY recording, position;
