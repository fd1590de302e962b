-- name: response_get
SELECT request, status, headers, body FROM responses WHERE key = :key AND expires_ns >= :now;

-- name: response_put
-- The first response stays until it expires.
INSERT INTO responses (key, owner, request, status, headers, body, expires_ns)
VALUES (:key, :owner, :request, :status, :headers, :body, :expires)
ON CONFLICT (key) DO UPDATE SET
    owner = excluded.owner, request = excluded.request, status = excluded.status, headers = excluded.headers,
    body = excluded.body, expires_ns = excluded.expires_ns
WHERE responses.expires_ns < :now;

-- name: responses_bound
-- A principal has the newest :most.
DELETE FROM responses
WHERE owner = :owner AND expires_ns <= (
    SELECT expires_ns FROM responses WHERE owner = :owner ORDER BY expires_ns DESC LIMIT 1 OFFSET :most
);

-- name: responses_expire
DELETE FROM responses WHERE expires_ns < :now;
