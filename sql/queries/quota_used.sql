SELECT recordings, bytes FROM collections WHERE name = :name;
