-- scan: tag_keys: on request only (fsck)
UPDATE tag_keys SET recordings = (
    SELECT count(*) FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording WHERE t.key = tag_keys.id AND r.state <> 4);
