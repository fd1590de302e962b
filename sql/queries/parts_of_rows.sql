SELECT recording, sha256, size, file_name FROM parts WHERE recording {in ints :rows} ORDER BY recording, position;
