INSERT INTO recording_labels (recording, label) SELECT :row, id FROM labels WHERE kind = :kind AND name = :name ON CONFLICT DO NOTHING;
