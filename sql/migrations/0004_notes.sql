-- What people say of recordings: description, custom fields, an epoch, tags, notes, events; and collections with their totals.

ALTER TABLE recordings ADD COLUMN epoch_ns INTEGER CHECK (epoch_ns >= 0); -- where zero of a relative clock lies on the calendar
ALTER TABLE recordings ADD COLUMN notes INTEGER NOT NULL DEFAULT 0; -- how many; kept by triggers
ALTER TABLE recordings ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE recordings ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE recordings ADD COLUMN custom TEXT NOT NULL DEFAULT ''; -- a JSON object; '' is {}

-- What its own times must be moved by to stand on the calendar; NULL: they have no place there. Then the times as they sort: on the calendar where
-- there is a place. Sums stop at the last instant that there is.
ALTER TABLE recordings ADD COLUMN shift_ns INTEGER GENERATED ALWAYS AS (iif(clock = 0, 0, epoch_ns)) VIRTUAL;
ALTER TABLE recordings ADD COLUMN placed_start_ns INTEGER GENERATED ALWAYS AS (
    iif(start_ns > 9223372036854775807 - coalesce(shift_ns, 0), 9223372036854775807, start_ns + coalesce(shift_ns, 0))) VIRTUAL;
ALTER TABLE recordings ADD COLUMN placed_end_ns INTEGER GENERATED ALWAYS AS (
    iif(end_ns > 9223372036854775807 - coalesce(shift_ns, 0), 9223372036854775807, end_ns + coalesce(shift_ns, 0))) VIRTUAL;

DROP INDEX recordings_by_start_ns;
DROP INDEX recordings_by_end_ns;
CREATE INDEX recordings_by_placed_start_ns ON recordings (placed_start_ns) WHERE state <> 4;
CREATE INDEX recordings_by_placed_end_ns ON recordings (placed_end_ns) WHERE state <> 4;

-- Tags: a key once a recording. The counts are of recordings that are not in the trash.
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

-- Both lead to recordings in the order of their rows.
CREATE INDEX recording_tags_key ON recording_tags (key, recording);
CREATE INDEX recording_tags_value ON recording_tags (value, recording);
-- What is shown, in the order it is shown in.
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

-- A value, and then a key, goes with its last recording.
CREATE TRIGGER recording_tags_delete AFTER DELETE ON recording_tags BEGIN
    UPDATE tag_keys SET recordings = recordings - 1
    WHERE id = OLD.key AND (SELECT state FROM recordings WHERE row = OLD.recording) <> 4;
    UPDATE tag_values SET recordings = recordings - 1
    WHERE id = OLD.value AND (SELECT state FROM recordings WHERE row = OLD.recording) <> 4;
    DELETE FROM tag_values WHERE id = OLD.value AND NOT EXISTS (SELECT 1 FROM recording_tags WHERE value = OLD.value);
    DELETE FROM tag_keys WHERE id = OLD.key AND NOT EXISTS (SELECT 1 FROM tag_values WHERE key = OLD.key);
END;

-- While the state can still be looked up.
CREATE TRIGGER recordings_tags_delete BEFORE DELETE ON recordings BEGIN
    DELETE FROM recording_tags WHERE recording = OLD.row;
END;

CREATE TRIGGER recordings_tags_state AFTER UPDATE OF state ON recordings WHEN (OLD.state = 4) <> (NEW.state = 4) BEGIN
    UPDATE tag_keys SET recordings = recordings + iif(NEW.state = 4, -1, 1)
    WHERE id IN (SELECT key FROM recording_tags WHERE recording = NEW.row);
    UPDATE tag_values SET recordings = recordings + iif(NEW.state = 4, -1, 1)
    WHERE id IN (SELECT value FROM recording_tags WHERE recording = NEW.row);
END;

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

-- The lengths by which events are sorted into classes: 1 s, 4 s, 16 s …
CREATE TABLE event_widths (
    width_ns INTEGER PRIMARY KEY
) STRICT;

INSERT INTO event_widths (width_ns)
WITH RECURSIVE widths (ns) AS (SELECT 1000000000 UNION ALL SELECT ns * 4 FROM widths WHERE ns < 2000000000000000000) SELECT ns FROM widths;
INSERT INTO event_widths (width_ns) VALUES (9223372036854775807);

-- start and end are of the recording's own clock, the wall's follow from them: NULL where the recording has no place on the calendar, or lies in the
-- trash. Kept by triggers, as is the width: the class that it is no longer than; NULL for an instant.
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
-- What goes on at an instant has begun no longer before it than its class is wide: one look for each class finds it.
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

-- Every collection that has recordings outside of the trash, or a description. A duration counts for at most a century, so that no sum overflows.
CREATE TABLE collections (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) > 0),
    recordings INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    duration_ms INTEGER NOT NULL DEFAULT 0,
    description TEXT NOT NULL DEFAULT ''
) STRICT;

INSERT INTO collections (name, recordings, bytes, messages, duration_ms)
SELECT collection, count(*), sum(size), sum(messages), sum(min(duration_ns / 1000000, 3155760000000))
FROM recordings WHERE state <> 4 GROUP BY collection;

-- Where a collection begins and ends on the calendar.
CREATE INDEX recordings_first_of_collection ON recordings (collection, placed_start_ns)
WHERE state <> 4 AND messages > 0 AND shift_ns IS NOT NULL;
CREATE INDEX recordings_last_of_collection ON recordings (collection, placed_end_ns)
WHERE state <> 4 AND messages > 0 AND shift_ns IS NOT NULL;

CREATE TRIGGER recordings_collections_insert AFTER INSERT ON recordings WHEN NEW.state <> 4 BEGIN
    INSERT INTO collections (name, recordings, bytes, messages, duration_ms)
    VALUES (NEW.collection, 1, NEW.size, NEW.messages, min(NEW.duration_ns / 1000000, 3155760000000))
    ON CONFLICT (name) DO UPDATE SET recordings = recordings + 1, bytes = bytes + excluded.bytes, messages = messages + excluded.messages,
        duration_ms = duration_ms + excluded.duration_ms;
END;

CREATE TRIGGER recordings_collections_delete AFTER DELETE ON recordings WHEN OLD.state <> 4 BEGIN
    UPDATE collections SET recordings = recordings - 1, bytes = bytes - OLD.size, messages = messages - OLD.messages,
        duration_ms = duration_ms - min(OLD.duration_ns / 1000000, 3155760000000)
    WHERE name = OLD.collection;
    DELETE FROM collections WHERE name = OLD.collection AND recordings = 0 AND description = '';
END;

CREATE TRIGGER recordings_collections_update AFTER UPDATE OF collection, state, size, messages, duration_ns ON recordings BEGIN
    UPDATE collections SET recordings = recordings - 1, bytes = bytes - OLD.size, messages = messages - OLD.messages,
        duration_ms = duration_ms - min(OLD.duration_ns / 1000000, 3155760000000)
    WHERE name = OLD.collection AND OLD.state <> 4;
    INSERT INTO collections (name, recordings, bytes, messages, duration_ms)
    SELECT NEW.collection, 1, NEW.size, NEW.messages, min(NEW.duration_ns / 1000000, 3155760000000) WHERE NEW.state <> 4
    ON CONFLICT (name) DO UPDATE SET recordings = recordings + 1, bytes = bytes + excluded.bytes, messages = messages + excluded.messages,
        duration_ms = duration_ms + excluded.duration_ms;
    DELETE FROM collections WHERE name = OLD.collection AND recordings = 0 AND description = '';
END;

-- Recordings that have changed since their manifest was written: a manifest follows its row, and what a crash left open is made good at the
-- next start.
CREATE TABLE manifests_due (
    recording INTEGER PRIMARY KEY REFERENCES recordings (row) ON DELETE CASCADE
) STRICT;

CREATE TRIGGER recordings_manifest AFTER UPDATE OF updated_ns ON recordings BEGIN
    INSERT INTO manifests_due (recording) VALUES (NEW.row) ON CONFLICT (recording) DO NOTHING;
END;
