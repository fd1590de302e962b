INSERT INTO imports (folder, name, device, inode, size, mtime_ns, fingerprint, mode, content, recording, failure)
VALUES (:folder, :name, :device, :inode, :size, :mtime, :fingerprint, :mode, :content, :recording, :failure)
ON CONFLICT (folder, name) DO UPDATE SET device = excluded.device, inode = excluded.inode, size = excluded.size, mtime_ns = excluded.mtime_ns,
    fingerprint = excluded.fingerprint, mode = excluded.mode, content = excluded.content, recording = excluded.recording, failure = excluded.failure;
