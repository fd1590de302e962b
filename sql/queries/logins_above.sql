-- Of one token the newest stay.
DELETE FROM logins WHERE hash IN (SELECT hash FROM logins WHERE token = :token ORDER BY created_ns DESC LIMIT 1000000 OFFSET :max);
