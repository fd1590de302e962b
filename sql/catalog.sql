-- name: catalog_is_new
-- scan: sqlite_sequence: one row per table
SELECT NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'recordings' AND seq > 0);

-- name: maintenance_set
INSERT INTO maintenance (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: maintenance_unset
DELETE FROM maintenance WHERE key = :key;

-- name: maintenance_get
SELECT value FROM maintenance WHERE key = :key;

-- name: schema_version
SELECT user_version FROM pragma_user_version;

-- name: data_version
-- Of PostgreSQL (sql/postgres/). SQLite's is read from shared memory, without a statement.
SELECT 0;
