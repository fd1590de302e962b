-- Idempotency keys of all operations: the key is hashed with its operation, and all headers are stored.
DROP TABLE responses;

-- The first response to each Idempotency-Key.
CREATE TABLE responses (
    key BLOB NOT NULL PRIMARY KEY CHECK (length(key) = 32), -- SHA-256 of principal, method, path and Idempotency-Key
    owner TEXT NOT NULL, -- the principal: token:7, proxy:ann
    request BLOB NOT NULL CHECK (length(request) = 32), -- SHA-256 of the request
    status INTEGER NOT NULL, -- 1: the response was too long to be stored
    headers TEXT NOT NULL, -- the media type ('' no body), then lines "NAME: VALUE"
    body TEXT NOT NULL,
    expires_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX responses_expires ON responses (expires_ns);
CREATE INDEX responses_owner ON responses (owner, expires_ns);
