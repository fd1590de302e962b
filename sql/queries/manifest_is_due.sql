SELECT EXISTS (SELECT 1 FROM manifests_due WHERE recording = :row);
