-- scan: labels: on request only (fsck)
UPDATE labels SET recordings = (
    SELECT count(*) FROM recording_labels AS k CROSS JOIN recordings AS r ON r.row = k.recording WHERE k.label = labels.id AND r.state <> 4);
