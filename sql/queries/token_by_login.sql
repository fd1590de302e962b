SELECT t.row, t.name, t.role, t.collections, t.created_ns, t.expires_ns, t.used_ns, t.revoked_ns
FROM logins AS l CROSS JOIN tokens AS t ON t.row = l.token WHERE l.hash = :hash AND l.expires_ns > :now;
