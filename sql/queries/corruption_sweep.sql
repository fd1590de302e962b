-- Files that no recording has any more. scan: corrupted_files: as many as there are
DELETE FROM corrupted_files WHERE NOT EXISTS (SELECT 1 FROM parts WHERE parts.sha256 = corrupted_files.sha256);
