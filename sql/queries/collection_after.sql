-- The first collection after a name, in the order of its index.
SELECT min(collection) FROM recordings WHERE collection > :name;
