SELECT row, name, role, collections, created_ns, expires_ns, used_ns, revoked_ns FROM tokens WHERE row > :row ORDER BY row LIMIT :limit;
