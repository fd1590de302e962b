-- name: imports_of_folder
SELECT i.name, i.device, i.inode, i.size, i.mtime_ns, i.fingerprint, i.mode, i.content, i.recording, i.failure,
    coalesce(f.code, 0)
FROM imports AS i LEFT JOIN failures AS f ON f.row = i.failure WHERE i.folder = :folder ORDER BY i.name LIMIT :limit;

-- name: imports_of_failure
SELECT i.name, i.device, i.inode, i.size, i.mtime_ns, i.fingerprint, i.mode, i.content, i.recording, i.failure, 0
FROM imports AS i WHERE i.failure = :failure LIMIT :limit;

-- name: import_known
SELECT EXISTS (SELECT 1 FROM imports WHERE folder = :folder AND name = :name);

-- name: import_find
SELECT i.fingerprint, i.content, i.failure, EXISTS (SELECT 1 FROM recordings AS r WHERE r.id = i.recording)
FROM imports AS i WHERE i.folder = :folder AND i.name = :name;

-- name: import_put
INSERT INTO imports (folder, name, device, inode, size, mtime_ns, fingerprint, mode, content, recording, failure)
VALUES (:folder, :name, :device, :inode, :size, :mtime, :fingerprint, :mode, :content, :recording, :failure)
ON CONFLICT (folder, name) DO UPDATE SET device = excluded.device, inode = excluded.inode, size = excluded.size,
    mtime_ns = excluded.mtime_ns, fingerprint = excluded.fingerprint, mode = excluded.mode, content = excluded.content,
    recording = excluded.recording, failure = excluded.failure;

-- name: import_delete
DELETE FROM imports WHERE folder = :folder AND name = :name;

-- name: imports_referenced_after
SELECT i.folder, i.name, i.content FROM imports AS i INDEXED BY imports_referenced
WHERE i.mode = 2 AND (i.folder, i.name) > (:folder, :name) ORDER BY i.folder, i.name LIMIT :limit;
