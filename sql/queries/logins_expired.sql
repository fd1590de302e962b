DELETE FROM logins WHERE expires_ns <= :now;
