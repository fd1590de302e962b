DELETE FROM responses WHERE expires_ns < :now;
