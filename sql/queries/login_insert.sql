INSERT INTO logins (hash, token, created_ns, expires_ns) VALUES (:hash, :token, :now, :expires);
