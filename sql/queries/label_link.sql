INSERT INTO label_set_labels (label_set, label)
SELECT :set, l.id FROM {texts :labels} AS v CROSS JOIN labels AS l ON l.kind = CAST(substr(v.value, 1, 1) AS INTEGER) AND l.name = substr(v.value, 2);
