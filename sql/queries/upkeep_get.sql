SELECT value FROM upkeep WHERE key = :key;
