SELECT row, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns, hash FROM tokens WHERE hash = :hash;
