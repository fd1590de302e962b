SELECT EXISTS (SELECT 1 FROM corrupted_files WHERE sha256 = :sha256);
