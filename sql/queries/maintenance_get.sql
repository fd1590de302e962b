SELECT value FROM maintenance WHERE key = :key;
