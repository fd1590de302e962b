-- name: collections_list
-- Both branches come in the order of names, so only a page of them is read. scan: n: a page
SELECT n.name, coalesce(sum(s.recordings), 0), coalesce(sum(s.bytes), 0), coalesce(sum(s.messages), 0),
    coalesce(sum(s.duration_ms), 0),
    coalesce((SELECT description FROM collections AS c WHERE c.name = n.name), ''),
    (SELECT min(calendar_start_ns) FROM recordings
        WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL),
    (SELECT max(calendar_end_ns) FROM recordings
        WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL)
FROM (
    SELECT collection AS name FROM sums WHERE collection > :after AND state <> 4 AND recordings > 0
    UNION SELECT name FROM collections WHERE name > :after ORDER BY name LIMIT :limit
) AS n LEFT JOIN sums AS s ON s.collection = n.name AND s.state <> 4
GROUP BY n.name ORDER BY n.name;

-- name: collection_by_name
-- scan: n: one row
SELECT n.name, coalesce(sum(s.recordings), 0), coalesce(sum(s.bytes), 0), coalesce(sum(s.messages), 0),
    coalesce(sum(s.duration_ms), 0),
    coalesce((SELECT description FROM collections AS c WHERE c.name = n.name), ''),
    (SELECT min(calendar_start_ns) FROM recordings
        WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL),
    (SELECT max(calendar_end_ns) FROM recordings
        WHERE collection = n.name AND state <> 4 AND messages > 0 AND shift_ns IS NOT NULL)
FROM (SELECT :name AS name) AS n LEFT JOIN sums AS s ON s.collection = n.name AND s.state <> 4
GROUP BY n.name HAVING sum(s.recordings) > 0 OR EXISTS (SELECT 1 FROM collections AS c WHERE c.name = n.name);

-- name: collection_newest
SELECT max(created_ns) FROM recordings WHERE collection = :name AND state <> 4;

-- name: collection_describe
-- Returns a row when there is such a collection.
INSERT INTO collections (name, description)
SELECT :name, :description WHERE EXISTS (SELECT 1 FROM sums WHERE collection = :name AND state <> 4 AND recordings > 0)
    OR EXISTS (SELECT 1 FROM collections WHERE name = :name)
ON CONFLICT (name) DO UPDATE SET description = excluded.description RETURNING 1;

-- name: collection_drop
-- Drops the description.
DELETE FROM collections WHERE name = :name;

-- name: collection_descriptions
-- scan: collections: for their manifest, when a description has changed
SELECT name, description FROM collections ORDER BY name;

-- name: collection_after
-- The first collection after a name, in the order of its index.
SELECT min(collection) FROM recordings WHERE collection > :name;

-- name: collection_from
-- The first collection at or after a name, in the order of its index.
SELECT min(collection) FROM recordings WHERE collection >= :name;

-- name: collection_taken
-- Whether anything has this name, the trash included.
SELECT EXISTS (SELECT 1 FROM recordings WHERE collection = :name)
    OR EXISTS (SELECT 1 FROM collections WHERE name = :name);

-- name: collection_rows
SELECT row, name FROM recordings WHERE collection = :name LIMIT :limit;

-- name: collection_rename
UPDATE collections SET name = :name WHERE name = :was;

-- name: collections_names
SELECT collection, sum(recordings) FROM sums
WHERE state <> 4 AND collection >= :from AND (:first = 1 OR collection > :after) AND collection < :end
GROUP BY collection HAVING sum(recordings) > 0 ORDER BY collection LIMIT :limit;
