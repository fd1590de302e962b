-- Files of this machine: what is known of them, what could not be taken, imports under way. Applied once, in one transaction; never edited after a release.

-- A state more: 5 changed (the file of a reference is not what it was). The table is as before but for its check, so only its text is written anew, as
-- SQLite's own manual has it for changes that touch no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql, 'state BETWEEN 0 AND 4', 'state BETWEEN 0 AND 5'), 'state_before_trash BETWEEN 0 AND 3', 'state_before_trash IN (0, 1, 2, 3, 5)')
WHERE type = 'table' AND name = 'recordings';
PRAGMA writable_schema = RESET;
INSERT INTO figures (state, recordings, bytes, messages) VALUES (5, 0, 0, 0);

-- What could not be taken in: a file (folder and name), or a recording that is there as failed, which triggers keep.
CREATE TABLE failures (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    folder TEXT,
    name TEXT,
    recording INTEGER UNIQUE REFERENCES recordings (row) ON DELETE CASCADE,
    collection TEXT NOT NULL,
    code INTEGER NOT NULL, -- enum reel_code; 0 of a recording
    reason TEXT NOT NULL, -- '' of a recording: it has it
    request TEXT NOT NULL, -- how to try again, JSON (server/ingest/import_take.c); '' of a recording
    tries INTEGER NOT NULL,
    first_ns INTEGER NOT NULL,
    last_ns INTEGER NOT NULL,
    UNIQUE (folder, name),
    CHECK ((folder IS NULL) = (name IS NULL) AND (folder IS NULL) <> (recording IS NULL))
) STRICT;

INSERT INTO failures (recording, collection, code, reason, request, tries, first_ns, last_ns)
SELECT row, collection, 0, '', '', 1, updated_ns, updated_ns FROM recordings WHERE state = 2;

CREATE TRIGGER recordings_failures_insert AFTER INSERT ON recordings WHEN NEW.state = 2 BEGIN
    INSERT INTO failures (recording, collection, code, reason, request, tries, first_ns, last_ns)
    VALUES (NEW.row, NEW.collection, 0, '', '', 1, NEW.created_ns, NEW.created_ns);
END;

CREATE TRIGGER recordings_failures_again AFTER UPDATE OF state ON recordings WHEN NEW.state = 2 BEGIN
    INSERT INTO failures (recording, collection, code, reason, request, tries, first_ns, last_ns)
    VALUES (NEW.row, NEW.collection, 0, '', '', 1, NEW.updated_ns, NEW.updated_ns)
    ON CONFLICT (recording) DO UPDATE SET tries = tries + 1, last_ns = excluded.last_ns;
END;

CREATE TRIGGER recordings_failures_over AFTER UPDATE OF state ON recordings WHEN OLD.state = 2 AND NEW.state <> 2 BEGIN
    DELETE FROM failures WHERE recording = NEW.row;
END;

CREATE TRIGGER recordings_failures_move AFTER UPDATE OF collection ON recordings WHEN NEW.state = 2 BEGIN
    UPDATE failures SET collection = NEW.collection WHERE recording = NEW.row;
END;

-- A file that has been looked at, so that it is not read again while it stays as it is.
CREATE TABLE imports (
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) IN (0, 32)), -- SHA-256 over size, first and last MiB; empty: it was not read
    mode INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 2), -- 0 copied, 1 moved, 2 referenced
    content BLOB NOT NULL CHECK (length(content) IN (0, 32)), -- empty: it was not taken
    recording BLOB NOT NULL CHECK (length(recording) IN (0, 16)), -- id of what it is a part of; empty: it was not taken
    failure INTEGER REFERENCES failures (row) ON DELETE SET NULL,
    PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX imports_failure ON imports (failure) WHERE failure IS NOT NULL;
CREATE INDEX imports_referenced ON imports (folder, name) WHERE mode = 2;

-- Imports under way, to be begun again after a crash.
CREATE TABLE import_runs (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    request TEXT NOT NULL -- JSON (server/ingest/import_job.c)
) STRICT;
