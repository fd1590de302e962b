DELETE FROM parts WHERE recording = :row;
