-- name: saved_list
SELECT kind, collection, name, value, author, created_ns, updated_ns FROM saved
WHERE kind = :kind AND collection = :collection ORDER BY name;

-- name: saved_all
-- scan: saved: for its copy outside of the catalog, when something was saved
SELECT kind, collection, name, value, author, created_ns, updated_ns FROM saved ORDER BY kind, collection, name;

-- name: saved_get
SELECT kind, collection, name, value, author, created_ns, updated_ns FROM saved
WHERE kind = :kind AND collection = :collection AND name = :name;

-- name: saved_room
-- How many there are like this one, and in total; the characters of all.
-- scan: saved: a few megabytes at most, when something is saved
SELECT coalesce(sum(CASE WHEN kind = :kind AND collection = :collection THEN 1 ELSE 0 END), 0), count(*),
    coalesce(sum(length(value)), 0)
FROM saved;

-- name: saved_put
INSERT INTO saved (kind, collection, name, value, author, created_ns, updated_ns)
VALUES (:kind, :collection, :name, :value, :author, :created, :updated)
ON CONFLICT (kind, collection, name) DO UPDATE SET
    value = excluded.value, author = excluded.author, updated_ns = excluded.updated_ns;

-- name: saved_delete
DELETE FROM saved WHERE kind = :kind AND collection = :collection AND name = :name;

-- name: saved_clear
-- Of a collection that is gone, whose name another one gets.
DELETE FROM saved WHERE kind = 'layout' AND collection = :name;

-- name: saved_rename
UPDATE saved SET collection = :name WHERE kind = 'layout' AND collection = :was;
