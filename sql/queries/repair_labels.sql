-- scan: label_sets: on request only (fsck)
UPDATE label_sets SET recordings = (SELECT count(*) FROM recordings AS r WHERE r.channel_labels = label_sets.id AND r.state <> 4) +
    (SELECT count(*) FROM recordings AS r WHERE r.metadata_labels = label_sets.id AND r.state <> 4);
