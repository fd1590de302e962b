-- Drops the description.
DELETE FROM collections WHERE name = :name;
