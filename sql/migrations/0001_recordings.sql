-- Recordings, their files, what they are found by, and running totals. Applied once, in one transaction; never edited after a release.

-- state: 0 scanning, 1 ready, 2 failed, 3 missing, 4 trashed. clock: 0 wall, 1 relative. Ids and hashes are raw bytes.
CREATE TABLE recordings (
    row INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every addition, so it is also the order of creation
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    collection TEXT NOT NULL CHECK (length(collection) > 0),
    name TEXT NOT NULL CHECK (length(name) > 0),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
    state_before_trash INTEGER NOT NULL CHECK (state_before_trash BETWEEN 0 AND 3),
    content BLOB NOT NULL CHECK (length(content) = 32),
    size INTEGER NOT NULL,
    format TEXT NOT NULL,
    container TEXT NOT NULL,
    clock INTEGER NOT NULL CHECK (clock IN (0, 1)),
    clock_note TEXT NOT NULL,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    payload_bytes INTEGER NOT NULL,
    channels INTEGER NOT NULL,
    damaged INTEGER NOT NULL CHECK (damaged IN (0, 1)),
    findings INTEGER NOT NULL,
    lost_bytes INTEGER NOT NULL,
    problem TEXT NOT NULL,
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL,
    UNIQUE (collection, name, revision)
) STRICT;

CREATE INDEX recordings_content ON recordings (content);

-- One index per sort of the list; the row, last in every index, breaks ties. What lies in the trash is not in them.
CREATE INDEX recordings_by_row ON recordings (row) WHERE state <> 4;
CREATE INDEX recordings_by_name ON recordings (name) WHERE state <> 4;
CREATE INDEX recordings_by_start_ns ON recordings (start_ns) WHERE state <> 4;
CREATE INDEX recordings_by_end_ns ON recordings (end_ns) WHERE state <> 4;
CREATE INDEX recordings_by_size ON recordings (size) WHERE state <> 4;
CREATE INDEX recordings_by_messages ON recordings (messages) WHERE state <> 4;
CREATE INDEX recordings_by_duration_ns ON recordings (duration_ns) WHERE state <> 4;

-- Filters that may leave few of many.
CREATE INDEX recordings_few_collection ON recordings (collection);
CREATE INDEX recordings_few_format ON recordings (format);
CREATE INDEX recordings_few_state ON recordings (state);
CREATE INDEX recordings_few_damaged ON recordings (damaged) WHERE damaged = 1;

CREATE TABLE parts (
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    size INTEGER NOT NULL,
    file_name TEXT NOT NULL,
    PRIMARY KEY (recording, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX parts_sha256 ON parts (sha256);

-- Every distinct topic (kind 0) and message type (kind 1), and which recordings have it.
CREATE TABLE labels (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
    name TEXT NOT NULL,
    UNIQUE (kind, name)
) STRICT;

CREATE TABLE recording_labels (
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    label INTEGER NOT NULL REFERENCES labels (id),
    PRIMARY KEY (recording, label)
) STRICT, WITHOUT ROWID;

CREATE INDEX recording_labels_label ON recording_labels (label);

-- A label goes with its last recording.
CREATE TRIGGER labels_sweep AFTER DELETE ON recording_labels BEGIN
    DELETE FROM labels WHERE id = OLD.label AND NOT EXISTS (SELECT 1 FROM recording_labels WHERE label = OLD.label);
END;

-- Words: letters and digits make them, everything else ("/", "_", ".", "-") parts them.
CREATE VIRTUAL TABLE search USING fts5 (
    name, collection, topics, types, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3 4'
);

-- Totals by state, kept by triggers so that asking costs the same whatever the size of the catalog.
CREATE TABLE figures (
    state INTEGER PRIMARY KEY,
    recordings INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    messages INTEGER NOT NULL
) STRICT;

INSERT INTO figures (state, recordings, bytes, messages) VALUES (0, 0, 0, 0), (1, 0, 0, 0), (2, 0, 0, 0), (3, 0, 0, 0), (4, 0, 0, 0);

CREATE TRIGGER recordings_figures_insert AFTER INSERT ON recordings BEGIN
    UPDATE figures SET recordings = recordings + 1, bytes = bytes + NEW.size, messages = messages + NEW.messages WHERE state = NEW.state;
END;

CREATE TRIGGER recordings_figures_delete AFTER DELETE ON recordings BEGIN
    UPDATE figures SET recordings = recordings - 1, bytes = bytes - OLD.size, messages = messages - OLD.messages WHERE state = OLD.state;
END;

CREATE TRIGGER recordings_figures_update AFTER UPDATE OF state, size, messages ON recordings BEGIN
    UPDATE figures SET recordings = recordings - 1, bytes = bytes - OLD.size, messages = messages - OLD.messages WHERE state = OLD.state;
    UPDATE figures SET recordings = recordings + 1, bytes = bytes + NEW.size, messages = messages + NEW.messages WHERE state = NEW.state;
END;
