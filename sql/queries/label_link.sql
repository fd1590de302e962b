INSERT INTO label_set_labels (label_set, label) SELECT :set, id FROM labels WHERE kind = :kind AND name = :name;
