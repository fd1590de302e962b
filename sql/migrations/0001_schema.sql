-- The catalog: recordings and what is known of them, users' annotations, tokens, uploads, imports, the change feed. Applied in one transaction when a
-- catalog is created; after the first release it is never edited, later versions add migrations.
--
-- Times are nanoseconds since 1970 (0: never) unless a comment says otherwise. Ids and hashes are raw bytes. JSON is text.

-- ---- recordings

-- state: 0 scanning, 1 ready, 2 failed, 3 missing, 4 trashed, 5 changed (the file of a reference is not what it was), 6 recording. clock: 0 wall, 1 relative.
CREATE TABLE recordings (
    row INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every addition, so it is also the order of creation
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    collection TEXT NOT NULL CHECK (length(collection) > 0),
    name TEXT NOT NULL CHECK (length(name) > 0),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
    state_before_trash INTEGER NOT NULL CHECK (state_before_trash IN (0, 1, 2, 3, 5, 6)),
    content BLOB NOT NULL CHECK (length(content) = 32), -- names the index pack and the manifest
    size INTEGER NOT NULL, -- of all parts
    format TEXT NOT NULL,
    container TEXT NOT NULL,
    clock INTEGER NOT NULL CHECK (clock IN (0, 1)),
    clock_note TEXT NOT NULL,
    start_ns INTEGER NOT NULL, -- on the recording's own clock; 0 without messages, as is the end
    end_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    payload_bytes INTEGER NOT NULL,
    channels INTEGER NOT NULL,
    damaged INTEGER NOT NULL CHECK (damaged IN (0, 1)),
    findings INTEGER NOT NULL,
    lost_bytes INTEGER NOT NULL,
    problem TEXT NOT NULL, -- why it failed, or that its file is corrupted; '' otherwise
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL, -- grows with every change: the version of the row
    group_name TEXT NOT NULL DEFAULT '', -- recordings that were split and belong together; '' none
    home TEXT NOT NULL DEFAULT '', -- the server whose data folder has its file while it grows, where several share the catalog (servers.id)
    epoch_ns INTEGER CHECK (epoch_ns >= 0), -- where zero of a relative clock lies on the calendar
    description TEXT NOT NULL DEFAULT '',
    custom TEXT NOT NULL DEFAULT '', -- custom fields, a JSON object; '' is {}
    notes INTEGER NOT NULL DEFAULT 0, -- how many; kept by triggers
    events INTEGER NOT NULL DEFAULT 0,
    channel_labels INTEGER REFERENCES label_sets (id), -- topics and types; NULL none
    metadata_labels INTEGER REFERENCES label_sets (id),

    -- What must be added to the recording's own times to get calendar times; NULL: not on the calendar.
    shift_ns INTEGER GENERATED ALWAYS AS (iif(clock = 0, 0, epoch_ns)) VIRTUAL,
    -- The times to sort by: calendar times where there are any, else the recording's own. Sums saturate.
    calendar_start_ns INTEGER GENERATED ALWAYS AS (
        iif(start_ns > 9223372036854775807 - coalesce(shift_ns, 0), 9223372036854775807, start_ns + coalesce(shift_ns, 0))) VIRTUAL,
    calendar_end_ns INTEGER GENERATED ALWAYS AS (
        iif(end_ns > 9223372036854775807 - coalesce(shift_ns, 0), 9223372036854775807, end_ns + coalesce(shift_ns, 0))) VIRTUAL,
    -- The width class: the smallest of seven widths that is not shorter than the recording; NULL: not on the calendar. Whatever overlaps an instant
    -- begins at most its width class before it, so an interval query reads one range of recordings_spans per class.
    width_ns INTEGER GENERATED ALWAYS AS (CASE
        WHEN messages = 0 OR shift_ns IS NULL THEN NULL
        WHEN calendar_end_ns - calendar_start_ns <= 1000000000 THEN 1000000000
        WHEN calendar_end_ns - calendar_start_ns <= 16000000000 THEN 16000000000
        WHEN calendar_end_ns - calendar_start_ns <= 256000000000 THEN 256000000000
        WHEN calendar_end_ns - calendar_start_ns <= 4096000000000 THEN 4096000000000
        WHEN calendar_end_ns - calendar_start_ns <= 65536000000000 THEN 65536000000000
        WHEN calendar_end_ns - calendar_start_ns <= 1048576000000000 THEN 1048576000000000
        ELSE 9223372036854775807 END) VIRTUAL,
    -- What the sums are by and of. A duration counts for at most a century, so that sums do not overflow.
    day TEXT GENERATED ALWAYS AS (
        iif(messages = 0 OR shift_ns IS NULL, '', coalesce(strftime('%Y-%m-%d', calendar_start_ns / 1000000000, 'unixepoch'), ''))) VIRTUAL,
    counted_ms INTEGER GENERATED ALWAYS AS (min(duration_ns / 1000000, 3155760000000)) VIRTUAL,
    UNIQUE (collection, name, revision)
) STRICT;

CREATE INDEX recordings_content ON recordings (content);

-- One index per sort of the list; the row, last in every index, breaks ties. Trashed recordings are not in them.
CREATE INDEX recordings_by_row ON recordings (row) WHERE state <> 4;
CREATE INDEX recordings_by_name ON recordings (name) WHERE state <> 4;
CREATE INDEX recordings_by_calendar_start_ns ON recordings (calendar_start_ns) WHERE state <> 4;
CREATE INDEX recordings_by_calendar_end_ns ON recordings (calendar_end_ns) WHERE state <> 4;
CREATE INDEX recordings_by_size ON recordings (size) WHERE state <> 4;
CREATE INDEX recordings_by_messages ON recordings (messages) WHERE state <> 4;
CREATE INDEX recordings_by_duration_ns ON recordings (duration_ns) WHERE state <> 4;

-- Filters that may be selective, with the trash.
CREATE INDEX recordings_by_collection ON recordings (collection);
CREATE INDEX recordings_by_format ON recordings (format);
CREATE INDEX recordings_by_state ON recordings (state);
CREATE INDEX recordings_by_damaged ON recordings (damaged);
CREATE INDEX recordings_by_group ON recordings (group_name) WHERE group_name <> '';
CREATE INDEX recordings_by_created_ns ON recordings (created_ns) WHERE state <> 4;
CREATE INDEX recordings_by_channel_labels ON recordings (channel_labels) WHERE channel_labels IS NOT NULL;
CREATE INDEX recordings_by_metadata_labels ON recordings (metadata_labels) WHERE metadata_labels IS NOT NULL;
CREATE INDEX recordings_spans ON recordings (width_ns, calendar_start_ns, calendar_end_ns) WHERE state <> 4 AND width_ns IS NOT NULL;

-- The first and the last instant of a collection on the calendar.
CREATE INDEX recordings_first_of_collection ON recordings (collection, calendar_start_ns)
WHERE state <> 4 AND messages > 0 AND shift_ns IS NOT NULL;
CREATE INDEX recordings_last_of_collection ON recordings (collection, calendar_end_ns)
WHERE state <> 4 AND messages > 0 AND shift_ns IS NOT NULL;

CREATE TABLE parts (
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    size INTEGER NOT NULL,
    file_name TEXT NOT NULL,
    PRIMARY KEY (recording, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX parts_sha256 ON parts (sha256);

-- Recordings that have changed since their manifest was written. A manifest is written after its row; whatever a crash interrupted is caught up on at
-- the next start.
CREATE TABLE manifests_due (
    recording INTEGER PRIMARY KEY REFERENCES recordings (row) ON DELETE CASCADE
) STRICT;

CREATE TRIGGER recordings_manifest AFTER UPDATE OF updated_ns ON recordings BEGIN
    INSERT INTO manifests_due (recording) VALUES (NEW.row) ON CONFLICT (recording) DO NOTHING;
END;

-- ---- labels and full text

-- Every distinct topic (kind 0), message type (kind 1) and metadata entry of a file as KEY:value (kind 2).
CREATE TABLE labels (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
    name TEXT NOT NULL,
    UNIQUE (kind, name)
) STRICT;

-- Every distinct set of labels: recordings of one robot share a few. A set has topics and types, or metadata.
CREATE TABLE label_sets (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32), -- SHA-256 of its labels (server/catalog/labels.c)
    recordings INTEGER NOT NULL DEFAULT 0 -- how many outside of the trash have it; kept by triggers
) STRICT;

CREATE TABLE label_set_labels (
    label_set INTEGER NOT NULL REFERENCES label_sets (id) ON DELETE CASCADE,
    label INTEGER NOT NULL REFERENCES labels (id),
    PRIMARY KEY (label_set, label)
) STRICT, WITHOUT ROWID;

CREATE INDEX label_set_labels_label ON label_set_labels (label, label_set);

CREATE TRIGGER recordings_labels_insert AFTER INSERT ON recordings WHEN NEW.state <> 4 BEGIN
    UPDATE label_sets SET recordings = recordings + 1 WHERE id IN (NEW.channel_labels, NEW.metadata_labels);
END;

-- A set is deleted with its last recording, and a label with its last set.
CREATE TRIGGER recordings_labels_update AFTER UPDATE OF channel_labels, metadata_labels, state ON recordings BEGIN
    UPDATE label_sets SET recordings = recordings - 1 WHERE id IN (OLD.channel_labels, OLD.metadata_labels) AND OLD.state <> 4;
    UPDATE label_sets SET recordings = recordings + 1 WHERE id IN (NEW.channel_labels, NEW.metadata_labels) AND NEW.state <> 4;
    DELETE FROM label_sets WHERE id IN (OLD.channel_labels, OLD.metadata_labels)
        AND NOT EXISTS (SELECT 1 FROM recordings WHERE channel_labels = label_sets.id) AND NOT EXISTS (SELECT 1 FROM recordings WHERE metadata_labels = label_sets.id);
END;

CREATE TRIGGER recordings_labels_delete AFTER DELETE ON recordings BEGIN
    UPDATE label_sets SET recordings = recordings - 1 WHERE id IN (OLD.channel_labels, OLD.metadata_labels) AND OLD.state <> 4;
    DELETE FROM label_sets WHERE id IN (OLD.channel_labels, OLD.metadata_labels)
        AND NOT EXISTS (SELECT 1 FROM recordings WHERE channel_labels = label_sets.id) AND NOT EXISTS (SELECT 1 FROM recordings WHERE metadata_labels = label_sets.id);
END;

CREATE TRIGGER label_set_labels_delete AFTER DELETE ON label_set_labels BEGIN
    DELETE FROM labels WHERE id = OLD.label AND NOT EXISTS (SELECT 1 FROM label_set_labels WHERE label = OLD.label);
END;

-- Labels whose text is to be deleted from label_search, which triggers may not change (server/catalog/labels.c).
CREATE TABLE labels_deleted (
    id INTEGER PRIMARY KEY
) STRICT;

CREATE TRIGGER labels_delete AFTER DELETE ON labels BEGIN
    INSERT INTO labels_deleted VALUES (OLD.id);
END;

-- Names and collections of recordings (rowid: the recording's row), and labels (rowid: the label's id), as search_text() writes them
-- (server/catalog/text.h). Trigrams find any part of a text.
CREATE VIRTUAL TABLE search USING fts5 (text, tokenize = 'trigram case_sensitive 1', columnsize = 0);
CREATE VIRTUAL TABLE label_search USING fts5 (text, tokenize = 'trigram case_sensitive 1', columnsize = 0);

-- ---- sums

-- Sums of the recordings of each collection, format, state and calendar day in UTC on which a recording begins. Reading them costs the same whatever the
-- size of the catalog. A combination without recordings has no row.
CREATE TABLE sums (
    collection TEXT NOT NULL,
    format TEXT NOT NULL,
    state INTEGER NOT NULL,
    day TEXT NOT NULL, -- '2026-05-01'; '' when it is not on the calendar
    recordings INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    PRIMARY KEY (collection, format, state, day)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER recordings_sums_insert AFTER INSERT ON recordings BEGIN
    INSERT INTO sums VALUES (NEW.collection, NEW.format, NEW.state, NEW.day, 1, NEW.size, NEW.messages, NEW.counted_ms)
    ON CONFLICT DO UPDATE SET recordings = recordings + 1, bytes = bytes + excluded.bytes, messages = messages + excluded.messages,
        duration_ms = duration_ms + excluded.duration_ms;
END;

CREATE TRIGGER recordings_sums_delete AFTER DELETE ON recordings BEGIN
    UPDATE sums SET recordings = recordings - 1, bytes = bytes - OLD.size, messages = messages - OLD.messages, duration_ms = duration_ms - OLD.counted_ms
    WHERE collection = OLD.collection AND format = OLD.format AND state = OLD.state AND day = OLD.day;
    DELETE FROM sums WHERE collection = OLD.collection AND format = OLD.format AND state = OLD.state AND day = OLD.day AND recordings = 0;
END;

CREATE TRIGGER recordings_sums_update AFTER UPDATE OF
    collection, state, size, format, messages, clock, epoch_ns, start_ns, end_ns, duration_ns ON recordings BEGIN
    UPDATE sums SET recordings = recordings - 1, bytes = bytes - OLD.size, messages = messages - OLD.messages, duration_ms = duration_ms - OLD.counted_ms
    WHERE collection = OLD.collection AND format = OLD.format AND state = OLD.state AND day = OLD.day;
    INSERT INTO sums VALUES (NEW.collection, NEW.format, NEW.state, NEW.day, 1, NEW.size, NEW.messages, NEW.counted_ms)
    ON CONFLICT DO UPDATE SET recordings = recordings + 1, bytes = bytes + excluded.bytes, messages = messages + excluded.messages,
        duration_ms = duration_ms + excluded.duration_ms;
    DELETE FROM sums WHERE collection = OLD.collection AND format = OLD.format AND state = OLD.state AND day = OLD.day AND recordings = 0;
END;

-- What users wrote about collections. Which collections there are is in sums; one that is described stays without recordings too.
CREATE TABLE collections (
    name TEXT PRIMARY KEY CHECK (length(name) > 0),
    description TEXT NOT NULL CHECK (length(description) > 0)
) STRICT, WITHOUT ROWID;

-- ---- tags: one value per key and recording. The counts exclude the trash.

CREATE TABLE tag_keys (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) > 0),
    recordings INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE tag_values (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL REFERENCES tag_keys (id),
    value TEXT NOT NULL,
    recordings INTEGER NOT NULL DEFAULT 0,
    UNIQUE (key, value)
) STRICT;

CREATE TABLE recording_tags (
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    key INTEGER NOT NULL REFERENCES tag_keys (id),
    value INTEGER NOT NULL REFERENCES tag_values (id),
    PRIMARY KEY (recording, key)
) STRICT, WITHOUT ROWID;

-- Both list recordings in the order of their rows.
CREATE INDEX recording_tags_key ON recording_tags (key, recording);
CREATE INDEX recording_tags_value ON recording_tags (value, recording);
-- Keys and values in use, in the order in which they are listed.
CREATE INDEX tag_keys_shown ON tag_keys (name) WHERE recordings > 0;
CREATE INDEX tag_values_shown ON tag_values (key, value) WHERE recordings > 0;

CREATE TRIGGER recording_tags_insert AFTER INSERT ON recording_tags WHEN (SELECT state FROM recordings WHERE row = NEW.recording) <> 4 BEGIN
    UPDATE tag_keys SET recordings = recordings + 1 WHERE id = NEW.key;
    UPDATE tag_values SET recordings = recordings + 1 WHERE id = NEW.value;
END;

CREATE TRIGGER recording_tags_update AFTER UPDATE OF value ON recording_tags BEGIN
    UPDATE tag_values SET recordings = recordings - 1
    WHERE id = OLD.value AND (SELECT state FROM recordings WHERE row = NEW.recording) <> 4;
    UPDATE tag_values SET recordings = recordings + 1
    WHERE id = NEW.value AND (SELECT state FROM recordings WHERE row = NEW.recording) <> 4;
    DELETE FROM tag_values WHERE id = OLD.value AND NOT EXISTS (SELECT 1 FROM recording_tags WHERE value = OLD.value);
END;

-- A value, and then a key, is deleted with its last recording.
CREATE TRIGGER recording_tags_delete AFTER DELETE ON recording_tags BEGIN
    UPDATE tag_keys SET recordings = recordings - 1
    WHERE id = OLD.key AND (SELECT state FROM recordings WHERE row = OLD.recording) <> 4;
    UPDATE tag_values SET recordings = recordings - 1
    WHERE id = OLD.value AND (SELECT state FROM recordings WHERE row = OLD.recording) <> 4;
    DELETE FROM tag_values WHERE id = OLD.value AND NOT EXISTS (SELECT 1 FROM recording_tags WHERE value = OLD.value);
    DELETE FROM tag_keys WHERE id = OLD.key AND NOT EXISTS (SELECT 1 FROM tag_values WHERE key = OLD.key);
END;

-- Before the recording is deleted, while its state can still be read.
CREATE TRIGGER recordings_tags_delete BEFORE DELETE ON recordings BEGIN
    DELETE FROM recording_tags WHERE recording = OLD.row;
END;

CREATE TRIGGER recordings_tags_state AFTER UPDATE OF state ON recordings WHEN (OLD.state = 4) <> (NEW.state = 4) BEGIN
    UPDATE tag_keys SET recordings = recordings + iif(NEW.state = 4, -1, 1)
    WHERE id IN (SELECT key FROM recording_tags WHERE recording = NEW.row);
    UPDATE tag_values SET recordings = recordings + iif(NEW.state = 4, -1, 1)
    WHERE id IN (SELECT value FROM recording_tags WHERE recording = NEW.row);
END;

-- ---- notes and events

CREATE TABLE notes (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX notes_recording ON notes (recording);

CREATE TRIGGER notes_insert AFTER INSERT ON notes BEGIN
    UPDATE recordings SET notes = notes + 1 WHERE row = NEW.recording;
END;

CREATE TRIGGER notes_delete AFTER DELETE ON notes BEGIN
    UPDATE recordings SET notes = notes - 1 WHERE row = OLD.recording;
END;

-- The width classes of events: 1 s, 4 s, 16 s …
CREATE TABLE event_widths (
    width_ns INTEGER PRIMARY KEY
) STRICT;

INSERT INTO event_widths (width_ns)
WITH RECURSIVE widths (ns) AS (SELECT 1000000000 UNION ALL SELECT ns * 4 FROM widths WHERE ns < 2000000000000000000) SELECT ns FROM widths;
INSERT INTO event_widths (width_ns) VALUES (9223372036854775807);

-- start_ns and end_ns are on the recording's own clock. The triggers keep wall_start_ns and wall_end_ns (NULL when the recording is not on the calendar, or
-- trashed) and the width class (NULL for an instant).
CREATE TABLE events (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL CHECK (end_ns >= start_ns),
    wall_start_ns INTEGER,
    wall_end_ns INTEGER,
    width_ns INTEGER,
    author TEXT NOT NULL,
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL,
    title TEXT NOT NULL,
    tags TEXT NOT NULL -- a JSON object of texts; '' is {}
) STRICT;

CREATE INDEX events_recording ON events (recording, start_ns);
CREATE INDEX events_wall ON events (wall_start_ns) WHERE wall_start_ns IS NOT NULL;
-- An event that is going on at an instant began at most its width class before it: one range per class finds them all.
CREATE INDEX events_lasting ON events (width_ns, wall_start_ns) WHERE width_ns IS NOT NULL AND wall_start_ns IS NOT NULL;

CREATE TRIGGER events_insert AFTER INSERT ON events BEGIN
    UPDATE recordings SET events = events + 1 WHERE row = NEW.recording;
    UPDATE events SET (wall_start_ns, wall_end_ns) = (
            SELECT iif(NEW.start_ns > 9223372036854775807 - shift_ns, 9223372036854775807, NEW.start_ns + shift_ns),
                   iif(NEW.end_ns > 9223372036854775807 - shift_ns, 9223372036854775807, NEW.end_ns + shift_ns)
            FROM recordings WHERE row = NEW.recording AND state <> 4),
        width_ns = (SELECT min(width_ns) FROM event_widths WHERE width_ns >= NEW.end_ns - NEW.start_ns AND NEW.end_ns > NEW.start_ns)
    WHERE row = NEW.row;
END;

CREATE TRIGGER events_move AFTER UPDATE OF start_ns, end_ns ON events BEGIN
    UPDATE events SET (wall_start_ns, wall_end_ns) = (
            SELECT iif(NEW.start_ns > 9223372036854775807 - shift_ns, 9223372036854775807, NEW.start_ns + shift_ns),
                   iif(NEW.end_ns > 9223372036854775807 - shift_ns, 9223372036854775807, NEW.end_ns + shift_ns)
            FROM recordings WHERE row = NEW.recording AND state <> 4),
        width_ns = (SELECT min(width_ns) FROM event_widths WHERE width_ns >= NEW.end_ns - NEW.start_ns AND NEW.end_ns > NEW.start_ns)
    WHERE row = NEW.row;
END;

CREATE TRIGGER events_delete AFTER DELETE ON events BEGIN
    UPDATE recordings SET events = events - 1 WHERE row = OLD.recording;
END;

CREATE TRIGGER recordings_events AFTER UPDATE OF state, clock, epoch_ns ON recordings
WHEN NEW.events > 0 AND (iif(OLD.state = 4, NULL, OLD.shift_ns) IS NOT iif(NEW.state = 4, NULL, NEW.shift_ns)) BEGIN
    UPDATE events SET
        wall_start_ns = iif(NEW.state = 4, NULL,
            iif(start_ns > 9223372036854775807 - NEW.shift_ns, 9223372036854775807, start_ns + NEW.shift_ns)),
        wall_end_ns = iif(NEW.state = 4, NULL,
            iif(end_ns > 9223372036854775807 - NEW.shift_ns, 9223372036854775807, end_ns + NEW.shift_ns))
    WHERE recording = NEW.row;
END;

-- ---- access control

-- A token is kept as its SHA-256. Revoked and expired tokens stay: once a token has existed, the server never admits anonymous callers again.
-- role: 1 read, 2 upload, 3 edit, 4 admin. collections: a JSON array of globs; empty: all.
CREATE TABLE tokens (
    row INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: signed links name it
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

-- Browsers that are logged in: the SHA-256 of the cookie, and the token it stands for.
CREATE TABLE logins (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    token INTEGER NOT NULL REFERENCES tokens (row) ON DELETE CASCADE,
    created_ns INTEGER NOT NULL,
    expires_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX logins_token ON logins (token, created_ns);
CREATE INDEX logins_expires ON logins (expires_ns);

-- The audit log: writes and denials in the order in which the requests ended. The oldest are deleted (AUDIT_ROWS_MAX).
CREATE TABLE audit (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ns INTEGER NOT NULL,
    caller TEXT NOT NULL,
    how TEXT NOT NULL, -- token, link, proxy …
    peer TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER NOT NULL,
    request TEXT NOT NULL
) STRICT;

-- ---- uploads

-- An upload session; its bytes are in incoming/<id>.part. state: 0 open, 1 complete (all bytes are there and, unless it is a partial upload, the
-- recording too).
CREATE TABLE uploads (
    row INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    owner TEXT NOT NULL, -- the principal: token:7, proxy:ann
    idempotency_key TEXT NOT NULL, -- '' none
    request BLOB NOT NULL CHECK (length(request) = 32), -- SHA-256 of the request that used this key first
    options TEXT NOT NULL, -- upload options as JSON: name, collection … (server/uploads/upload_options.h)
    metadata TEXT NOT NULL, -- Upload-Metadata as received
    concat TEXT NOT NULL, -- Upload-Concat as received: '', 'partial', 'final;…'
    draft INTEGER NOT NULL CHECK (draft IN (0, 1)), -- created by the IETF draft protocol: complete when the client says so
    checked INTEGER NOT NULL CHECK (checked IN (0, 1)), -- pieces carried checksums: bytes that were not confirmed are unverified
    length INTEGER NOT NULL CHECK (length >= -1), -- -1 not known yet
    confirmed INTEGER NOT NULL CHECK (confirmed >= 0), -- how many bytes are on the disk
    state INTEGER NOT NULL CHECK (state IN (0, 1)),
    content BLOB NOT NULL, -- SHA-256 once it is known, else empty
    recording BLOB NOT NULL, -- id of the recording it became, else empty
    created_ns INTEGER NOT NULL,
    expires_ns INTEGER NOT NULL,
    note TEXT NOT NULL, -- what of it is in S3, as JSON (server/store/bucket/send.h); '' nothing, or the store is a folder
    turn INTEGER NOT NULL -- counted by each writer: one that has missed a turn is out
) STRICT;

CREATE UNIQUE INDEX uploads_key ON uploads (owner, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX uploads_expires ON uploads (expires_ns);
CREATE INDEX uploads_owner ON uploads (owner);
CREATE INDEX uploads_open ON uploads (length, confirmed) WHERE state = 0;

-- Which object in S3 has a content, when the store is a bucket.
CREATE TABLE objects (
    sha256 BLOB NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    location TEXT NOT NULL, -- objects/<id> below the store's prefix; s3://BUCKET/KEY: of others, only read
    etag TEXT NOT NULL, -- of an object of others; else ''
    size INTEGER NOT NULL CHECK (size >= 0)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX objects_location ON objects (location) WHERE etag = ''; -- an object of others that was overwritten is another content

-- The first response to each Idempotency-Key of uploads in one request.
CREATE TABLE responses (
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

CREATE INDEX responses_expires ON responses (expires_ns);

-- ---- imports of local files

-- Failed imports: a file (folder and name), or a recording in state failed, whose row the triggers keep.
CREATE TABLE failures (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    folder BLOB, -- paths are bytes, not always UTF-8
    name BLOB,
    recording INTEGER UNIQUE REFERENCES recordings (row) ON DELETE CASCADE,
    collection TEXT NOT NULL,
    code INTEGER NOT NULL, -- enum reel_code; 0 for a recording
    reason TEXT NOT NULL, -- '' for a recording, which has it as its problem
    request TEXT NOT NULL, -- how to retry, JSON (server/imports/unit.c); '' for a recording
    tries INTEGER NOT NULL,
    first_ns INTEGER NOT NULL,
    last_ns INTEGER NOT NULL,
    UNIQUE (folder, name),
    CHECK ((folder IS NULL) = (name IS NULL) AND (folder IS NULL) <> (recording IS NULL))
) STRICT;

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

-- Files that have been inspected, so that they are not read again while they are unchanged.
CREATE TABLE imports (
    folder BLOB NOT NULL,
    name BLOB NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) IN (0, 32)), -- SHA-256 of size, first and last MiB; empty: not read
    mode INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 2), -- 0 copied, 1 moved, 2 referenced
    content BLOB NOT NULL CHECK (length(content) IN (0, 32)), -- empty: not imported
    recording BLOB NOT NULL CHECK (length(recording) IN (0, 16)), -- id of the recording it is a part of; empty: not imported
    failure INTEGER REFERENCES failures (row) ON DELETE SET NULL,
    PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX imports_failure ON imports (failure) WHERE failure IS NOT NULL;
CREATE INDEX imports_referenced ON imports (folder, name) WHERE mode = 2;

-- ---- background work

-- A job: state 0 queued, 1 running, 2 done, 3 failed, 4 cancelled. A running one is leased to the process that runs it, which renews the lease; a job whose
-- lease has run out is queued again, so every kind can be run twice. Ended jobs are kept for a week.
CREATE TABLE jobs (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    kind TEXT NOT NULL, -- server/job_kinds.c
    key TEXT NOT NULL, -- what it is about: at most one job of a kind and key has not ended
    lane INTEGER NOT NULL, -- enum job_lane
    collection TEXT NOT NULL, -- '' none: of the server as a whole
    subject TEXT NOT NULL, -- what it is about, for users to read
    options TEXT NOT NULL, -- JSON, of the kind
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
    again INTEGER NOT NULL DEFAULT 0, -- added again while it ran: it is queued once more when it ends
    not_before_ns INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT NOT NULL DEFAULT '',
    lease_until_ns INTEGER NOT NULL DEFAULT 0,
    cancel INTEGER NOT NULL DEFAULT 0,
    progress_done INTEGER NOT NULL DEFAULT 0,
    progress_total INTEGER NOT NULL DEFAULT 0,
    outcome TEXT NOT NULL DEFAULT '', -- JSON, '' none
    code INTEGER NOT NULL DEFAULT 0, -- enum reel_code of the problem
    problem TEXT NOT NULL DEFAULT '',
    created_ns INTEGER NOT NULL,
    started_ns INTEGER NOT NULL DEFAULT 0,
    ended_ns INTEGER NOT NULL DEFAULT 0,
    home TEXT NOT NULL DEFAULT '' -- the server that can run it, where several share the catalog: its files are there; '' any
) STRICT;

CREATE UNIQUE INDEX jobs_key ON jobs (kind, key) WHERE state < 2;
CREATE INDEX jobs_queued ON jobs (lane, row) WHERE state = 0;
CREATE INDEX jobs_running ON jobs (lease_until_ns) WHERE state = 1;
CREATE INDEX jobs_ended ON jobs (ended_ns) WHERE state > 1;

-- What a batch of changes does with each recording; the batch is the key of its job. state 0 not done yet, 1 changed, 2 was so already, 3 failed.
CREATE TABLE batch_items (
    batch BLOB NOT NULL CHECK (length(batch) = 16),
    position INTEGER NOT NULL,
    recording BLOB NOT NULL CHECK (length(recording) = 16),
    collection TEXT NOT NULL, -- as they were
    name TEXT NOT NULL,
    new_name TEXT NOT NULL, -- '' none
    state INTEGER NOT NULL DEFAULT 0 CHECK (state BETWEEN 0 AND 3),
    problem TEXT NOT NULL DEFAULT '',
    created_ns INTEGER NOT NULL,
    PRIMARY KEY (batch, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX batch_items_old ON batch_items (created_ns);

-- The servers of this catalog, where there are several: each renews its row. What has been silent for a month goes when one starts.
CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 32), -- of its data folder, in hex
    address TEXT NOT NULL, -- where the others reach it, as http://10.0.0.5:8040; '' they cannot
    beat_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---- the change feed and webhooks

-- One row per change, in the order of commits, written by the triggers below (and catalog_change_job()). seq has no gaps, trimmed rows included. A row
-- belongs to one collection and names no other. detail_name says what the detail is ('' none), detail_value is the value of a tag. (Triggers may not call
-- SQLite's JSON functions.)
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ns INTEGER NOT NULL DEFAULT (
        CAST(strftime('%s', 'now') AS INTEGER) * 1000000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000000),
    kind TEXT NOT NULL,
    recording BLOB NOT NULL CHECK (length(recording) = 16),
    collection TEXT NOT NULL,
    name TEXT NOT NULL,
    detail_name TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '',
    detail_value TEXT
) STRICT;

-- A new catalog starts above every seq of the one it may replace, so that a client of that one sees a gap, never other changes under known numbers.
INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', CAST(strftime('%s', 'now') AS INTEGER) * 1000);

-- The newest 100,000 are kept; each new change deletes at most two that are older than 30 days.
CREATE TRIGGER changes_trim AFTER INSERT ON changes BEGIN
    DELETE FROM changes WHERE seq <= NEW.seq - 100000;
    DELETE FROM changes WHERE seq IN (SELECT seq FROM changes ORDER BY seq LIMIT 2) AND time_ns < NEW.time_ns - 2592000000000000;
END;

CREATE TRIGGER changes_recording_insert AFTER INSERT ON recordings BEGIN
    INSERT INTO changes (kind, recording, collection, name) VALUES ('recording.created', NEW.id, NEW.collection, NEW.name);
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT iif(NEW.state = 1, 'scan.done', 'scan.failed'), NEW.id, NEW.collection, NEW.name,
        iif(NEW.state = 1, '', 'problem'), iif(NEW.state = 1, '', NEW.problem)
    WHERE NEW.state IN (1, 2);
END;

CREATE TRIGGER changes_recording_state AFTER UPDATE OF state ON recordings WHEN OLD.state <> NEW.state BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail) VALUES (
        CASE
            WHEN NEW.state = 4 THEN 'recording.trashed'
            WHEN OLD.state = 4 THEN 'recording.restored'
            WHEN NEW.state = 0 THEN 'scan.started'
            WHEN NEW.state = 1 THEN 'scan.done'
            WHEN NEW.state = 2 THEN 'scan.failed'
            WHEN NEW.state = 3 THEN 'file.missing'
            WHEN NEW.state = 6 THEN 'recording.updated'
            ELSE 'file.changed'
        END,
        NEW.id, NEW.collection, NEW.name, iif(NEW.state = 2, 'problem', ''), iif(NEW.state = 2, NEW.problem, ''));
END;

CREATE TRIGGER changes_recording_update AFTER UPDATE OF updated_ns ON recordings WHEN OLD.state = NEW.state AND OLD.updated_ns <> NEW.updated_ns BEGIN
    INSERT INTO changes (kind, recording, collection, name) VALUES ('recording.updated', NEW.id, NEW.collection, NEW.name);
END;

CREATE TRIGGER changes_recording_rename AFTER UPDATE OF collection, name ON recordings
WHEN OLD.collection <> NEW.collection OR OLD.name <> NEW.name BEGIN
    INSERT INTO changes (kind, recording, collection, name)
    SELECT 'recording.left', OLD.id, OLD.collection, OLD.name WHERE OLD.collection <> NEW.collection;
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    VALUES ('recording.renamed', NEW.id, NEW.collection, NEW.name, iif(OLD.collection = NEW.collection, 'was', ''),
        iif(OLD.collection = NEW.collection, OLD.name, ''));
END;

CREATE TRIGGER changes_recording_delete AFTER DELETE ON recordings BEGIN
    INSERT INTO changes (kind, recording, collection, name) VALUES ('recording.purged', OLD.id, OLD.collection, OLD.name);
END;

CREATE TRIGGER changes_tag_insert AFTER INSERT ON recording_tags BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail, detail_value)
    SELECT 'tag.set', r.id, r.collection, r.name, 'tag', k.name, v.value
    FROM recordings AS r, tag_keys AS k, tag_values AS v WHERE r.row = NEW.recording AND k.id = NEW.key AND v.id = NEW.value;
END;

CREATE TRIGGER changes_tag_update AFTER UPDATE OF value ON recording_tags WHEN OLD.value <> NEW.value BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail, detail_value)
    SELECT 'tag.set', r.id, r.collection, r.name, 'tag', k.name, v.value
    FROM recordings AS r, tag_keys AS k, tag_values AS v WHERE r.row = NEW.recording AND k.id = NEW.key AND v.id = NEW.value;
END;

-- Before the deletion, while the name of the key can still be read.
CREATE TRIGGER changes_tag_delete BEFORE DELETE ON recording_tags BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT 'tag.unset', r.id, r.collection, r.name, 'tag', k.name
    FROM recordings AS r, tag_keys AS k WHERE r.row = OLD.recording AND k.id = OLD.key;
END;

-- Notes and events that are deleted with their recording find no recording any more and are not reported one by one.
CREATE TRIGGER changes_note_insert AFTER INSERT ON notes BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT 'note.added', id, collection, name, 'note', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_note_update AFTER UPDATE OF text ON notes BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT 'note.changed', id, collection, name, 'note', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_note_delete AFTER DELETE ON notes BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT 'note.removed', id, collection, name, 'note', lower(hex(OLD.id)) FROM recordings WHERE row = OLD.recording;
END;

CREATE TRIGGER changes_event_insert AFTER INSERT ON events BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT 'event.added', id, collection, name, 'event', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_event_update AFTER UPDATE OF start_ns, end_ns, title, tags ON events BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT 'event.changed', id, collection, name, 'event', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_event_delete AFTER DELETE ON events BEGIN
    INSERT INTO changes (kind, recording, collection, name, detail_name, detail)
    SELECT 'event.removed', id, collection, name, 'event', lower(hex(OLD.id)) FROM recordings WHERE row = OLD.recording;
END;

-- Subscribers by POST. The changes are the queue: those after seq are still to be delivered. events, collections: JSON arrays of globs.
CREATE TABLE webhooks (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    collections TEXT NOT NULL, -- empty: all
    secret TEXT NOT NULL, -- signs the deliveries, so it is stored in plain text
    created_ns INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, -- failed attempts since the last delivery
    next_ns INTEGER NOT NULL DEFAULT 0, -- no attempt before this time
    delivered INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The last 20 attempts of each webhook.
CREATE TABLE webhook_results (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook INTEGER NOT NULL REFERENCES webhooks (row) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    time_ns INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    status INTEGER NOT NULL, -- 0: no response
    problem TEXT NOT NULL
) STRICT;

CREATE INDEX webhook_results_webhook ON webhook_results (webhook, row);

CREATE TRIGGER webhook_results_trim AFTER INSERT ON webhook_results BEGIN
    DELETE FROM webhook_results
    WHERE row IN (SELECT row FROM webhook_results WHERE webhook = NEW.webhook ORDER BY row DESC LIMIT -1 OFFSET 20);
END;

-- What users save by name. kind 'layout': of a collection; 'search': of the whole archive, collection ''. value: a JSON object.
CREATE TABLE saved (
    kind TEXT NOT NULL CHECK (kind IN ('layout', 'search')),
    collection TEXT NOT NULL CHECK ((kind = 'layout') = (collection <> '')),
    name TEXT NOT NULL CHECK (length(name) > 0),
    value TEXT NOT NULL,
    author TEXT NOT NULL, -- who saved it last
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL, -- grows with every change: the row's version
    PRIMARY KEY (kind, collection, name)
) STRICT;

-- ---- maintenance

-- 'copied': this catalog is the copy of a backup on which no server has run yet, and when it was made. 'scrub': progress and findings of the last
-- integrity check (JSON, server/maintenance/scrub.c). 'backup': the last backup made by a server (JSON). 'stopped': when the last server stopped cleanly.
-- 'retention': rules, quotas and the last run.
CREATE TABLE maintenance (
    key TEXT PRIMARY KEY CHECK (length(key) > 0),
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Stored files whose bytes no longer have the SHA-256 they are named by.
CREATE TABLE corrupted_files (
    sha256 BLOB PRIMARY KEY CHECK (length(sha256) = 32),
    found_ns INTEGER NOT NULL,
    problem TEXT NOT NULL
) STRICT, WITHOUT ROWID;
