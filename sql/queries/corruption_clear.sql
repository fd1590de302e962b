DELETE FROM corrupted_files WHERE sha256 = :sha256;
