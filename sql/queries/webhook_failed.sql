UPDATE webhooks SET tries = tries + 1, next_ns = :next WHERE row = :row;
