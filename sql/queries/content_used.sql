SELECT EXISTS (SELECT 1 FROM recordings WHERE content = :sha256);
