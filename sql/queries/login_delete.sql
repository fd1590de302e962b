DELETE FROM logins WHERE hash = :hash;
