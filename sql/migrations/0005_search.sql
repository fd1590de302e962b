-- What searches go by: what files say of themselves, how many recordings a label has, intervals by their width, and totals by format, state and day.

-- A kind of label more: 2, what a file says of itself, as KEY:value. The table is as before but for its check, so only its text is written anew.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'kind IN (0, 1)', 'kind IN (0, 1, 2)') WHERE type = 'table' AND name = 'labels';
PRAGMA writable_schema = RESET;

-- How many recordings outside of the trash have it.
ALTER TABLE labels ADD COLUMN recordings INTEGER NOT NULL DEFAULT 0;
UPDATE labels SET recordings = (
    SELECT count(*) FROM recording_labels AS k CROSS JOIN recordings AS r ON r.row = k.recording WHERE k.label = labels.id AND r.state <> 4);
CREATE INDEX labels_shown ON labels (kind, name) WHERE recordings > 0;

CREATE TRIGGER recording_labels_insert AFTER INSERT ON recording_labels WHEN (SELECT state FROM recordings WHERE row = NEW.recording) <> 4 BEGIN
    UPDATE labels SET recordings = recordings + 1 WHERE id = NEW.label;
END;

DROP TRIGGER labels_sweep;
-- A label goes with its last recording.
CREATE TRIGGER labels_sweep AFTER DELETE ON recording_labels BEGIN
    UPDATE labels SET recordings = recordings - 1
    WHERE id = OLD.label AND (SELECT state FROM recordings WHERE row = OLD.recording) <> 4;
    DELETE FROM labels WHERE id = OLD.label AND NOT EXISTS (SELECT 1 FROM recording_labels WHERE label = OLD.label);
END;

-- While the state can still be looked up.
CREATE TRIGGER recordings_labels_delete BEFORE DELETE ON recordings BEGIN
    DELETE FROM recording_labels WHERE recording = OLD.row;
END;

CREATE TRIGGER recordings_labels_state AFTER UPDATE OF state ON recordings WHEN (OLD.state = 4) <> (NEW.state = 4) BEGIN
    UPDATE labels SET recordings = recordings + iif(NEW.state = 4, -1, 1)
    WHERE id IN (SELECT label FROM recording_labels WHERE recording = NEW.row);
END;

-- Words of what files say of themselves too; beginnings of up to eight characters have an index, as FTS5 would gather all that a longer one finds first. Those of recordings that are there already come with their next scan.
CREATE TABLE search_before AS SELECT rowid AS row, name, collection, topics, types FROM search;
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5 (
    name, collection, topics, types, metadata, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3 4 5 6 7 8'
);
INSERT INTO search (rowid, name, collection, topics, types, metadata) SELECT row, name, collection, topics, types, '' FROM search_before;
DROP TABLE search_before;

-- The class of length (event_widths) that a recording with a place on the calendar is no longer than: what goes on at an instant has begun no longer
-- before it than its class is wide.
ALTER TABLE recordings ADD COLUMN width_ns INTEGER GENERATED ALWAYS AS (CASE
    WHEN messages = 0 OR shift_ns IS NULL THEN NULL
    WHEN placed_end_ns - placed_start_ns <= 1000000000 THEN 1000000000
    WHEN placed_end_ns - placed_start_ns <= 16000000000 THEN 16000000000
    WHEN placed_end_ns - placed_start_ns <= 256000000000 THEN 256000000000
    WHEN placed_end_ns - placed_start_ns <= 4096000000000 THEN 4096000000000
    WHEN placed_end_ns - placed_start_ns <= 65536000000000 THEN 65536000000000
    WHEN placed_end_ns - placed_start_ns <= 1048576000000000 THEN 1048576000000000
    ELSE 9223372036854775807 END) VIRTUAL;
CREATE INDEX recordings_spans ON recordings (width_ns, placed_start_ns, placed_end_ns) WHERE state <> 4 AND width_ns IS NOT NULL;

-- When the recordings of 1024 rows in turn begin and end at most: recordings come in about the order of their times, so whole blocks can be passed over.
CREATE TABLE row_spans (
    block INTEGER PRIMARY KEY, -- row / 1024
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL
) STRICT;

INSERT INTO row_spans (block, start_ns, end_ns)
SELECT row / 1024, min(placed_start_ns), max(placed_end_ns) FROM recordings WHERE width_ns IS NOT NULL GROUP BY row / 1024;

CREATE TRIGGER recordings_spans_insert AFTER INSERT ON recordings WHEN NEW.width_ns IS NOT NULL BEGIN
    INSERT INTO row_spans (block, start_ns, end_ns) VALUES (NEW.row / 1024, NEW.placed_start_ns, NEW.placed_end_ns)
    ON CONFLICT (block) DO UPDATE SET start_ns = min(start_ns, excluded.start_ns), end_ns = max(end_ns, excluded.end_ns)
    WHERE excluded.start_ns < start_ns OR excluded.end_ns > end_ns;
END;

CREATE TRIGGER recordings_spans_update AFTER UPDATE OF messages, clock, epoch_ns, start_ns, end_ns ON recordings WHEN NEW.width_ns IS NOT NULL BEGIN
    INSERT INTO row_spans (block, start_ns, end_ns) VALUES (NEW.row / 1024, NEW.placed_start_ns, NEW.placed_end_ns)
    ON CONFLICT (block) DO UPDATE SET start_ns = min(start_ns, excluded.start_ns), end_ns = max(end_ns, excluded.end_ns)
    WHERE excluded.start_ns < start_ns OR excluded.end_ns > end_ns;
END;

-- Totals outside of the trash, of each collection and ('') of all. kind: 0 by format, 1 by state, 2 by the day it begins on, of the calendar in UTC
-- ('2026-05-01'; '' is none). The state of trash is told of too. A duration counts for at most a century, so that no sum overflows.
CREATE TABLE totals (
    collection TEXT NOT NULL,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
    name TEXT NOT NULL,
    recordings INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    PRIMARY KEY (collection, kind, name)
) STRICT, WITHOUT ROWID;

-- What a recording adds to: by it the triggers, and whoever checks them, agree.
CREATE VIEW totals_of AS
SELECT r.row, iif(places.own, r.collection, '') AS collection, 0 AS kind, r.format AS name, r.size, r.messages, min(r.duration_ns / 1000000, 3155760000000) AS ms
FROM recordings AS r CROSS JOIN (SELECT 0 AS own UNION ALL SELECT 1) AS places WHERE r.state <> 4
UNION ALL
SELECT r.row, iif(places.own, r.collection, ''), 1, r.state, r.size, r.messages, min(r.duration_ns / 1000000, 3155760000000)
FROM recordings AS r CROSS JOIN (SELECT 0 AS own UNION ALL SELECT 1) AS places
UNION ALL
SELECT r.row, iif(places.own, r.collection, ''), 2, iif(r.width_ns IS NULL, '', coalesce(strftime('%Y-%m-%d', r.placed_start_ns / 1000000000, 'unixepoch'), '')),
    r.size, r.messages, min(r.duration_ns / 1000000, 3155760000000)
FROM recordings AS r CROSS JOIN (SELECT 0 AS own UNION ALL SELECT 1) AS places WHERE r.state <> 4;

INSERT INTO totals (collection, kind, name, recordings, bytes, messages, duration_ms)
SELECT collection, kind, name, count(*), sum(size), sum(messages), sum(ms) FROM totals_of GROUP BY collection, kind, name;

CREATE TRIGGER recordings_totals_insert AFTER INSERT ON recordings BEGIN
    INSERT INTO totals (collection, kind, name, recordings, bytes, messages, duration_ms)
    SELECT collection, kind, name, 1, size, messages, ms FROM totals_of WHERE row = NEW.row
    ON CONFLICT (collection, kind, name) DO UPDATE SET recordings = recordings + 1, bytes = bytes + excluded.bytes,
        messages = messages + excluded.messages, duration_ms = duration_ms + excluded.duration_ms;
END;

CREATE TRIGGER recordings_totals_delete BEFORE DELETE ON recordings BEGIN
    INSERT INTO totals (collection, kind, name, recordings, bytes, messages, duration_ms)
    SELECT collection, kind, name, 1, size, messages, ms FROM totals_of WHERE row = OLD.row
    ON CONFLICT (collection, kind, name) DO UPDATE SET recordings = recordings - 1, bytes = bytes - excluded.bytes,
        messages = messages - excluded.messages, duration_ms = duration_ms - excluded.duration_ms;
    DELETE FROM totals WHERE recordings = 0 AND (collection = '' OR collection = OLD.collection);
END;

CREATE TRIGGER recordings_totals_before BEFORE UPDATE OF
    collection, state, size, format, messages, clock, epoch_ns, start_ns, end_ns, duration_ns ON recordings BEGIN
    INSERT INTO totals (collection, kind, name, recordings, bytes, messages, duration_ms)
    SELECT collection, kind, name, 1, size, messages, ms FROM totals_of WHERE row = OLD.row
    ON CONFLICT (collection, kind, name) DO UPDATE SET recordings = recordings - 1, bytes = bytes - excluded.bytes,
        messages = messages - excluded.messages, duration_ms = duration_ms - excluded.duration_ms;
END;

CREATE TRIGGER recordings_totals_after AFTER UPDATE OF
    collection, state, size, format, messages, clock, epoch_ns, start_ns, end_ns, duration_ns ON recordings BEGIN
    INSERT INTO totals (collection, kind, name, recordings, bytes, messages, duration_ms)
    SELECT collection, kind, name, 1, size, messages, ms FROM totals_of WHERE row = NEW.row
    ON CONFLICT (collection, kind, name) DO UPDATE SET recordings = recordings + 1, bytes = bytes + excluded.bytes,
        messages = messages + excluded.messages, duration_ms = duration_ms + excluded.duration_ms;
END;
