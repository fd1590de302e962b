DELETE FROM maintenance WHERE key = :key;
