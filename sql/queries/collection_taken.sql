-- Whether anything has this name, the trash included.
SELECT EXISTS (SELECT 1 FROM recordings WHERE collection = :name) OR EXISTS (SELECT 1 FROM collections WHERE name = :name);
