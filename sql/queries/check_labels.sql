-- scan: l: on request only (fsck)
SELECT 'of the topic or type ' || name || ' the catalog counts ' || recordings || ' recordings; there are ' || n
FROM (SELECT name, recordings, (SELECT count(*) FROM recording_labels AS k CROSS JOIN recordings AS r ON r.row = k.recording
    WHERE k.label = l.id AND r.state <> 4) AS n FROM labels AS l) WHERE recordings <> n;
