SELECT kind, collection, name, value, author, created_ns, updated_ns FROM saved
WHERE kind = :kind AND collection = :collection ORDER BY name;
