-- name: manifest_due
SELECT due.recording, r.id FROM manifests_due AS due CROSS JOIN recordings AS r ON r.row = due.recording
WHERE due.recording > :after ORDER BY due.recording LIMIT 1;

-- name: manifest_written
DELETE FROM manifests_due WHERE recording = (SELECT row FROM recordings WHERE id = :id AND updated_ns = :version);

-- name: manifest_is_due
SELECT EXISTS (SELECT 1 FROM manifests_due WHERE recording = :row);

-- name: manifests_any
-- scan: manifests_due: its first row
SELECT EXISTS (SELECT 1 FROM manifests_due);

-- name: manifest_set_due
INSERT INTO manifests_due (recording) SELECT row FROM recordings WHERE id = :id ON CONFLICT (recording) DO NOTHING;
