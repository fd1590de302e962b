DELETE FROM manifests_due WHERE recording = (SELECT row FROM recordings WHERE id = :id AND updated_ns = :version);
