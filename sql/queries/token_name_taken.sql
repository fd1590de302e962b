SELECT EXISTS (SELECT 1 FROM tokens WHERE name = :name AND revoked_ns = 0);
