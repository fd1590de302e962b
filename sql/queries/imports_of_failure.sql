SELECT i.name, i.device, i.inode, i.size, i.mtime_ns, i.fingerprint, i.mode, i.content, i.recording, i.failure, 0
FROM imports AS i WHERE i.failure = :failure LIMIT :limit;
