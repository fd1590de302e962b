SELECT request, status, header, address, body FROM responses WHERE owner = :owner AND idempotency_key = :key AND expires_ns >= :now;
