INSERT INTO manifests_due (recording) SELECT row FROM recordings WHERE id = :id ON CONFLICT (recording) DO NOTHING;
