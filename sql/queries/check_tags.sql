-- scan: k: on request only (fsck); scan: v: as k
SELECT 'of the tag ' || k.name || ' the catalog counts ' || k.recordings || ' recordings; there are ' || n
FROM (SELECT id, name, recordings, (SELECT count(*) FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording
    WHERE t.key = k.id AND r.state <> 4) AS n FROM tag_keys AS k) AS k WHERE k.recordings <> n
UNION ALL
SELECT 'of the tag value ' || v.value || ' the catalog counts ' || v.recordings || ' recordings; there are ' || n
FROM (SELECT id, value, recordings, (SELECT count(*) FROM recording_tags AS t CROSS JOIN recordings AS r ON r.row = t.recording
    WHERE t.value = v.id AND r.state <> 4) AS n FROM tag_values AS v) AS v WHERE v.recordings <> n;
