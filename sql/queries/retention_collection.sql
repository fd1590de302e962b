-- The next collection, and what is in it outside of the trash.
SELECT name, bytes FROM collections WHERE name > :name ORDER BY name LIMIT 1;
