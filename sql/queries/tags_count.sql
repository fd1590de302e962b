SELECT count(*) FROM recording_tags WHERE recording = :row;
