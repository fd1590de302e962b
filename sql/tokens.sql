-- name: token_by_hash
SELECT row, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns, hash FROM tokens WHERE hash = :hash;

-- name: token_by_row
SELECT row, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns, hash FROM tokens WHERE row = :row;

-- name: token_by_login
-- With the login's expiry where it is the earlier one.
SELECT t.row, t.name, t.role, t.collections, t.created_ns,
    CASE WHEN t.expires_ns BETWEEN 1 AND l.expires_ns THEN t.expires_ns ELSE l.expires_ns END, t.used_ns, t.revoked_ns, t.hash
FROM logins AS l CROSS JOIN tokens AS t ON t.row = l.token WHERE l.hash = :hash;

-- name: token_by_name
SELECT row, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns, hash FROM tokens
WHERE name = :name AND revoked_ns = 0;

-- name: tokens_exist
SELECT EXISTS (SELECT 1 FROM tokens WHERE row > 0);

-- name: tokens_after
SELECT row, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns, hash FROM tokens
WHERE row > :row ORDER BY row LIMIT :limit;

-- name: tokens_count
-- scan: tokens: as many as there may be, at the most (TOKENS_MAX)
SELECT count(*) FROM tokens;

-- name: tokens_sweep
-- Of those that are revoked the oldest go; they are only kept to be shown.
-- scan: tokens: as many as there may be, at the most (TOKENS_MAX)
DELETE FROM tokens WHERE row = (SELECT min(row) FROM tokens WHERE revoked_ns > 0);

-- name: token_name_taken
SELECT EXISTS (SELECT 1 FROM tokens WHERE name = :name AND revoked_ns = 0);

-- name: token_insert
INSERT INTO tokens (hash, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns)
VALUES (:hash, :name, :role, :collections, :now, :expires, 0, 0) RETURNING row;

-- name: token_used
UPDATE tokens SET used_ns = :now WHERE row = :row;

-- name: token_revoke
UPDATE tokens SET revoked_ns = :now WHERE row = :row AND revoked_ns = 0 RETURNING row;

-- name: token_set_collections
UPDATE tokens SET collections = :collections WHERE row = :row;
