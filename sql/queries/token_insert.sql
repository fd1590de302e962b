INSERT INTO tokens (hash, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns)
VALUES (:hash, :name, :role, :collections, :now, :expires, 0, 0) RETURNING row;
