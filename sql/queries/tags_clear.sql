DELETE FROM recording_tags WHERE recording = :row;
