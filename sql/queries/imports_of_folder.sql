SELECT i.name, i.device, i.inode, i.size, i.mtime_ns, i.fingerprint, i.mode, i.content, i.recording, i.failure, coalesce(f.code, 0)
FROM imports AS i LEFT JOIN failures AS f ON f.row = i.failure WHERE i.folder = :folder ORDER BY i.name LIMIT :limit;
