-- name: labels_missing
INSERT INTO labels_changed SELECT id FROM labels AS l WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.row = l.id)
ON CONFLICT (id) DO NOTHING;
