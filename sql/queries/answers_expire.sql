DELETE FROM answers WHERE expires_ns < :now;
