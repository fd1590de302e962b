-- name: logins_expired
DELETE FROM logins WHERE expires_ns <= :now;

-- name: login_insert
INSERT INTO logins (hash, token, created_ns, expires_ns) VALUES (:hash, :token, :now, :expires);

-- name: logins_above
-- Of one token the newest stay.
DELETE FROM logins
WHERE hash IN (SELECT hash FROM logins WHERE token = :token ORDER BY created_ns DESC LIMIT 1000000 OFFSET :max);

-- name: login_delete
DELETE FROM logins WHERE hash = :hash;
