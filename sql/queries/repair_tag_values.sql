-- scan: tag_values: on request only (fsck)
UPDATE tag_values SET recordings = (
    SELECT count(*) FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording WHERE t.value = tag_values.id AND r.state <> 4);
