-- Uploads under way, what was answered under an Idempotency-Key, and groups of recordings. Applied once, in one transaction; never edited after a release.

-- A session: its bytes lie in incoming/<id>.part. state: 0 open, 1 done (all bytes are there, and unless it is a partial one, so is the recording).
CREATE TABLE uploads (
    row INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    owner TEXT NOT NULL, -- the caller's name
    idempotency_key TEXT NOT NULL, -- '' none
    request BLOB NOT NULL CHECK (length(request) = 32), -- SHA-256 of what was asked under that key
    wishes TEXT NOT NULL, -- JSON: name, collection … (server/ingest/wishes.h)
    metadata TEXT NOT NULL, -- Upload-Metadata as it was given
    concat TEXT NOT NULL, -- Upload-Concat as it was given: '', 'partial', 'final;…'
    draft INTEGER NOT NULL CHECK (draft IN (0, 1)), -- made by the IETF's draft: complete when the client says so
    checked INTEGER NOT NULL CHECK (checked IN (0, 1)), -- pieces came with checksums: what was not confirmed was not checked
    length INTEGER NOT NULL CHECK (length >= -1), -- -1 not known yet
    offset INTEGER NOT NULL CHECK (offset >= 0), -- what an fsync has confirmed
    state INTEGER NOT NULL CHECK (state IN (0, 1)),
    content BLOB NOT NULL, -- its SHA-256 once that is known, else empty
    recording BLOB NOT NULL, -- the id of what became of it, else empty
    created_ns INTEGER NOT NULL,
    expires_ns INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX uploads_key ON uploads (owner, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX uploads_expires ON uploads (expires_ns);

-- First answers of uploads in one request.
CREATE TABLE answers (
    owner TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request BLOB NOT NULL CHECK (length(request) = 32),
    status INTEGER NOT NULL,
    header TEXT NOT NULL, -- Location or Content-Location
    address TEXT NOT NULL,
    body TEXT NOT NULL,
    expires_ns INTEGER NOT NULL,
    PRIMARY KEY (owner, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_expires ON answers (expires_ns);

-- Recordings that were split and belong together, in the order of their times.
ALTER TABLE recordings ADD COLUMN group_name TEXT NOT NULL DEFAULT '';
CREATE INDEX recordings_few_group ON recordings (group_name) WHERE group_name <> '';
