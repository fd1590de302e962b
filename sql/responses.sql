-- name: response_get
SELECT request, status, header, address, body FROM responses
WHERE owner = :owner AND idempotency_key = :key AND expires_ns >= :now;

-- name: response_put
-- The first response stays until it expires.
INSERT INTO responses (owner, idempotency_key, request, status, header, address, body, expires_ns)
VALUES (:owner, :key, :request, :status, :header, :address, :body, :expires)
ON CONFLICT (owner, idempotency_key) DO UPDATE SET
    request = excluded.request, status = excluded.status, header = excluded.header, address = excluded.address,
    body = excluded.body, expires_ns = excluded.expires_ns
WHERE responses.expires_ns < :now;

-- name: responses_expire
DELETE FROM responses WHERE expires_ns < :now;
