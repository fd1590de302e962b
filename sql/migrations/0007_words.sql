-- Words find recordings by the values of their tags and the titles of their events, too. Each distinct value and title is a label, whose text is in
-- label_search; it is written there after the migration (labels_sweep(), server/catalog/labels.c).

-- A table is replaced, as its CHECK cannot be altered; the triggers that name it go with it.
DROP TRIGGER label_set_labels_delete;
DROP TRIGGER labels_delete;

-- Every distinct topic (kind 0), message type (kind 1), metadata entry of a file as KEY:value (kind 2), value of a tag (kind 3) and title of an event
-- (kind 4).
CREATE TABLE labels_new (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),
    name TEXT NOT NULL,
    UNIQUE (kind, name)
) STRICT;
INSERT INTO sqlite_sequence (name, seq) SELECT 'labels_new', seq FROM sqlite_sequence WHERE name = 'labels';
INSERT INTO labels_new (id, kind, name) SELECT id, kind, name FROM labels;
DROP TABLE labels;
ALTER TABLE labels_new RENAME TO labels;

-- Labels whose text is to be written to label_search, or deleted from it, which triggers may not change.
DROP TABLE labels_deleted;
CREATE TABLE labels_changed (
    id INTEGER PRIMARY KEY
) STRICT;

CREATE TRIGGER labels_insert AFTER INSERT ON labels BEGIN
    INSERT INTO labels_changed VALUES (NEW.id);
END;

CREATE TRIGGER labels_delete AFTER DELETE ON labels BEGIN
    INSERT INTO labels_changed VALUES (OLD.id) ON CONFLICT (id) DO NOTHING;
END;

CREATE TRIGGER label_set_labels_delete AFTER DELETE ON label_set_labels BEGIN
    DELETE FROM labels WHERE id = OLD.label AND NOT EXISTS (SELECT 1 FROM label_set_labels WHERE label = OLD.label);
END;

-- ---- values of tags

ALTER TABLE tag_values ADD COLUMN label INTEGER REFERENCES labels (id); -- of its value; set by a trigger

INSERT INTO labels (kind, name) SELECT DISTINCT 3, value FROM tag_values;
UPDATE tag_values SET label = (SELECT id FROM labels WHERE kind = 3 AND name = value);
CREATE INDEX tag_values_label ON tag_values (label);

CREATE TRIGGER tag_values_insert AFTER INSERT ON tag_values BEGIN
    INSERT INTO labels (kind, name) VALUES (3, NEW.value) ON CONFLICT (kind, name) DO NOTHING;
    UPDATE tag_values SET label = (SELECT id FROM labels WHERE kind = 3 AND name = NEW.value) WHERE id = NEW.id;
END;

CREATE TRIGGER tag_values_delete AFTER DELETE ON tag_values BEGIN
    DELETE FROM labels WHERE id = OLD.label AND kind = 3 AND NOT EXISTS (SELECT 1 FROM tag_values WHERE label = OLD.label);
END;

-- ---- titles of events

-- The distinct titles of a recording's events, kept by triggers.
CREATE TABLE event_titles (
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    label INTEGER NOT NULL REFERENCES labels (id),
    events INTEGER NOT NULL, -- how many have it
    PRIMARY KEY (recording, label)
) STRICT, WITHOUT ROWID;

INSERT INTO labels (kind, name) SELECT DISTINCT 4, title FROM events;
INSERT INTO event_titles (recording, label, events)
SELECT e.recording, l.id, count(*) FROM events AS e CROSS JOIN labels AS l ON l.kind = 4 AND l.name = e.title GROUP BY e.recording, l.id;
CREATE INDEX event_titles_label ON event_titles (label, recording);

CREATE TRIGGER event_titles_insert AFTER INSERT ON events BEGIN
    INSERT INTO labels (kind, name) VALUES (4, NEW.title) ON CONFLICT (kind, name) DO NOTHING;
    INSERT INTO event_titles SELECT NEW.recording, id, 1 FROM labels WHERE kind = 4 AND name = NEW.title
    ON CONFLICT (recording, label) DO UPDATE SET events = events + 1;
END;

CREATE TRIGGER event_titles_remove AFTER DELETE ON events BEGIN
    UPDATE event_titles SET events = events - 1
    WHERE recording = OLD.recording AND label = (SELECT id FROM labels WHERE kind = 4 AND name = OLD.title);
    DELETE FROM event_titles
    WHERE recording = OLD.recording AND label = (SELECT id FROM labels WHERE kind = 4 AND name = OLD.title) AND events = 0;
END;

CREATE TRIGGER event_titles_update AFTER UPDATE OF title ON events WHEN OLD.title <> NEW.title BEGIN
    INSERT INTO labels (kind, name) VALUES (4, NEW.title) ON CONFLICT (kind, name) DO NOTHING;
    INSERT INTO event_titles SELECT NEW.recording, id, 1 FROM labels WHERE kind = 4 AND name = NEW.title
    ON CONFLICT (recording, label) DO UPDATE SET events = events + 1;
    UPDATE event_titles SET events = events - 1
    WHERE recording = OLD.recording AND label = (SELECT id FROM labels WHERE kind = 4 AND name = OLD.title);
    DELETE FROM event_titles
    WHERE recording = OLD.recording AND label = (SELECT id FROM labels WHERE kind = 4 AND name = OLD.title) AND events = 0;
END;

-- A label is deleted with the last recording that has such an event.
CREATE TRIGGER event_titles_delete AFTER DELETE ON event_titles BEGIN
    DELETE FROM labels WHERE id = OLD.label AND kind = 4 AND NOT EXISTS (SELECT 1 FROM event_titles WHERE label = OLD.label);
END;

-- The newest recording of a collection.
CREATE INDEX recordings_newest ON recordings (collection, created_ns) WHERE state <> 4;
