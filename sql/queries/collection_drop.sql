DELETE FROM collections WHERE name = :name AND recordings = 0 AND description = '';
