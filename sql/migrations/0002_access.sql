-- Who may come in, and what was done.

-- A token is kept as its SHA-256. Revoked and expired ones stay: once there was a token, the server is never open again.
-- role: 1 read, 2 upload, 3 edit, 4 admin. collections: a JSON array of globs; empty: all. Times in ns since 1970, 0: never.
CREATE TABLE tokens (
    row INTEGER PRIMARY KEY AUTOINCREMENT, -- never given out twice: links name it
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    name TEXT NOT NULL CHECK (length(name) > 0),
    role INTEGER NOT NULL CHECK (role BETWEEN 1 AND 4),
    collections TEXT NOT NULL,
    created_ns INTEGER NOT NULL,
    expires_ns INTEGER NOT NULL,
    used_ns INTEGER NOT NULL,
    revoked_ns INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_ns = 0;

-- Writes and denials, in the order in which they ended; the oldest go (server/catalog/access.c says when).
CREATE TABLE audit (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ns INTEGER NOT NULL,
    caller TEXT NOT NULL,
    how TEXT NOT NULL,
    peer TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER NOT NULL,
    request TEXT NOT NULL
) STRICT;
