-- Returns a row when there is such a collection.
INSERT INTO collections (name, description)
SELECT :name, :description WHERE EXISTS (SELECT 1 FROM sums WHERE collection = :name AND state <> 4 AND recordings > 0)
    OR EXISTS (SELECT 1 FROM collections WHERE name = :name)
ON CONFLICT (name) DO UPDATE SET description = excluded.description RETURNING 1;
