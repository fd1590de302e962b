SELECT due.recording, r.id FROM manifests_due AS due CROSS JOIN recordings AS r ON r.row = due.recording
WHERE due.recording > :after ORDER BY due.recording LIMIT 1;
