INSERT INTO saved (kind, collection, name, value, author, created_ns, updated_ns)
VALUES (:kind, :collection, :name, :value, :author, :created, :updated)
ON CONFLICT (kind, collection, name) DO UPDATE SET value = excluded.value, author = excluded.author, updated_ns = excluded.updated_ns;
