-- name: definitions_list
-- scan: definitions: a few megabytes at most, when one has changed
SELECT name, text, author, created_ns, updated_ns FROM definitions ORDER BY name;

-- name: definitions_page
SELECT name, '', author, created_ns, updated_ns FROM definitions
WHERE name > :after ORDER BY name LIMIT :limit;

-- name: definition_get
SELECT name, text, author, created_ns, updated_ns FROM definitions WHERE name = :name;

-- name: definitions_room
-- scan: definitions: a few megabytes at most, when some are supplied
SELECT count(*), coalesce(sum(length(text)), 0) FROM definitions;

-- name: definition_put
INSERT INTO definitions (name, text, author, created_ns, updated_ns)
VALUES (:name, :text, :author, :created, :updated)
ON CONFLICT (name) DO UPDATE SET text = excluded.text, author = excluded.author, updated_ns = excluded.updated_ns;

-- name: definition_delete
DELETE FROM definitions WHERE name = :name;
