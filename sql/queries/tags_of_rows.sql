-- The tags of a page of recordings, given as a JSON array of their rows.
SELECT t.recording, k.name, v.value
FROM json_each(:rows) AS given CROSS JOIN recording_tags AS t ON t.recording = given.value
CROSS JOIN tag_keys AS k ON k.id = t.key CROSS JOIN tag_values AS v ON v.id = t.value;
