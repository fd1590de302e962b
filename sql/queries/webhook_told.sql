UPDATE webhooks SET seq = max(seq, :seq), tries = 0, next_ns = 0, told = told + 1 WHERE row = :row;
