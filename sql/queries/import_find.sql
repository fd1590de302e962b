SELECT i.fingerprint, i.content, i.failure, EXISTS (SELECT 1 FROM recordings AS r WHERE r.id = i.recording)
FROM imports AS i WHERE i.folder = :folder AND i.name = :name;
