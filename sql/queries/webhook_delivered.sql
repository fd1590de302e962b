UPDATE webhooks SET seq = max(seq, :seq), tries = 0, next_ns = 0, delivered = delivered + 1 WHERE row = :row;
