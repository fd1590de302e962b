DELETE FROM upkeep WHERE key = :key;
