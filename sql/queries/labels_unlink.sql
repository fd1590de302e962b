DELETE FROM recording_labels WHERE recording = :row;
