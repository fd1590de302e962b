-- What has changed, in the order in which it was committed, and who is told of it. Applied once, in one transaction; never edited after a release.

-- Written by the triggers below and by nobody else. seq counts without holes, also over what has been trimmed. A row is of one collection and says nothing
-- of another. about names what more is told ('' nothing): text is that, and value the value of a tag. (Triggers may not call SQLite's JSON functions.)
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ns INTEGER NOT NULL DEFAULT (
        CAST(strftime('%s', 'now') AS INTEGER) * 1000000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000000),
    kind TEXT NOT NULL,
    recording BLOB NOT NULL CHECK (length(recording) = 16),
    collection TEXT NOT NULL,
    name TEXT NOT NULL,
    about TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT '',
    value TEXT
) STRICT;

-- A catalog that is made anew begins behind wherever the one before it was, so that whoever followed that one finds a gap and no mix-up.
INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', CAST(strftime('%s', 'now') AS INTEGER) * 1000);

-- The newest 100,000 stay, and each new one takes at most two with it that are older than 30 days.
CREATE TRIGGER changes_trim AFTER INSERT ON changes BEGIN
    DELETE FROM changes WHERE seq <= NEW.seq - 100000;
    DELETE FROM changes WHERE seq IN (SELECT seq FROM changes ORDER BY seq LIMIT 2) AND time_ns < NEW.time_ns - 2592000000000000;
END;

CREATE TRIGGER changes_recording_insert AFTER INSERT ON recordings BEGIN
    INSERT INTO changes (kind, recording, collection, name) VALUES ('recording.created', NEW.id, NEW.collection, NEW.name);
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT iif(NEW.state = 1, 'scan.done', 'scan.failed'), NEW.id, NEW.collection, NEW.name,
        iif(NEW.state = 1, '', 'problem'), iif(NEW.state = 1, '', NEW.problem)
    WHERE NEW.state IN (1, 2);
END;

CREATE TRIGGER changes_recording_state AFTER UPDATE OF state ON recordings WHEN OLD.state <> NEW.state BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text) VALUES (
        CASE
            WHEN NEW.state = 4 THEN 'recording.trashed'
            WHEN OLD.state = 4 THEN 'recording.restored'
            WHEN NEW.state = 0 THEN 'scan.started'
            WHEN NEW.state = 1 THEN 'scan.done'
            WHEN NEW.state = 2 THEN 'scan.failed'
            WHEN NEW.state = 3 THEN 'file.missing'
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
    INSERT INTO changes (kind, recording, collection, name, about, text)
    VALUES ('recording.renamed', NEW.id, NEW.collection, NEW.name, iif(OLD.collection = NEW.collection, 'was', ''),
        iif(OLD.collection = NEW.collection, OLD.name, ''));
END;

CREATE TRIGGER changes_recording_delete AFTER DELETE ON recordings BEGIN
    INSERT INTO changes (kind, recording, collection, name) VALUES ('recording.purged', OLD.id, OLD.collection, OLD.name);
END;

CREATE TRIGGER changes_tag_insert AFTER INSERT ON recording_tags BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text, value)
    SELECT 'tag.set', r.id, r.collection, r.name, 'tag', k.name, v.value
    FROM recordings AS r, tag_keys AS k, tag_values AS v WHERE r.row = NEW.recording AND k.id = NEW.key AND v.id = NEW.value;
END;

CREATE TRIGGER changes_tag_update AFTER UPDATE OF value ON recording_tags WHEN OLD.value <> NEW.value BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text, value)
    SELECT 'tag.set', r.id, r.collection, r.name, 'tag', k.name, v.value
    FROM recordings AS r, tag_keys AS k, tag_values AS v WHERE r.row = NEW.recording AND k.id = NEW.key AND v.id = NEW.value;
END;

-- While the key's name can still be looked up.
CREATE TRIGGER changes_tag_delete BEFORE DELETE ON recording_tags BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT 'tag.unset', r.id, r.collection, r.name, 'tag', k.name
    FROM recordings AS r, tag_keys AS k WHERE r.row = OLD.recording AND k.id = OLD.key;
END;

-- What goes with its recording has none any more when these run, and is not told one by one.
CREATE TRIGGER changes_note_insert AFTER INSERT ON notes BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT 'note.added', id, collection, name, 'note', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_note_update AFTER UPDATE OF text ON notes BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT 'note.changed', id, collection, name, 'note', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_note_delete AFTER DELETE ON notes BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT 'note.removed', id, collection, name, 'note', lower(hex(OLD.id)) FROM recordings WHERE row = OLD.recording;
END;

CREATE TRIGGER changes_event_insert AFTER INSERT ON events BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT 'event.added', id, collection, name, 'event', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_event_update AFTER UPDATE OF start_ns, end_ns, title, tags ON events BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT 'event.changed', id, collection, name, 'event', lower(hex(NEW.id)) FROM recordings WHERE row = NEW.recording;
END;

CREATE TRIGGER changes_event_delete AFTER DELETE ON events BEGIN
    INSERT INTO changes (kind, recording, collection, name, about, text)
    SELECT 'event.removed', id, collection, name, 'event', lower(hex(OLD.id)) FROM recordings WHERE row = OLD.recording;
END;

-- Who is told by a POST. The changes are the queue: what lies behind seq is still to be told. events, collections: JSON arrays of globs.
CREATE TABLE webhooks (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    collections TEXT NOT NULL, -- empty: all
    secret TEXT NOT NULL, -- signs what is sent, so it is needed as it is
    created_ns INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, -- that have failed since the last that did not
    next_ns INTEGER NOT NULL DEFAULT 0, -- the next try is not before
    told INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The last 20 tries of each.
CREATE TABLE webhook_results (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook INTEGER NOT NULL REFERENCES webhooks (row) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    time_ns INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    status INTEGER NOT NULL, -- 0: there was no answer
    problem TEXT NOT NULL
) STRICT;

CREATE INDEX webhook_results_webhook ON webhook_results (webhook, row);

CREATE TRIGGER webhook_results_trim AFTER INSERT ON webhook_results BEGIN
    DELETE FROM webhook_results
    WHERE row IN (SELECT row FROM webhook_results WHERE webhook = NEW.webhook ORDER BY row DESC LIMIT -1 OFFSET 20);
END;
