SELECT t.recording, k.name, v.value
FROM recording_tags AS t CROSS JOIN tag_keys AS k ON k.id = t.key CROSS JOIN tag_values AS v ON v.id = t.value
WHERE t.recording {in ints :rows} ORDER BY t.recording;
