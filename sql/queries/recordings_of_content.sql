SELECT id FROM recordings WHERE content = :sha256 ORDER BY row LIMIT :limit;
