-- Words find recordings by the values of their tags and the titles of their events, too: as ../../migrations/0007_words.sql, which explains it.

ALTER TABLE labels DROP CONSTRAINT labels_kind_check;
ALTER TABLE labels ADD CONSTRAINT labels_kind_check CHECK (kind BETWEEN 0 AND 4);

-- Labels whose text is to be written to label_search, or deleted from it.
DROP TABLE labels_deleted;
CREATE TABLE labels_changed (
    id int8 PRIMARY KEY
);

CREATE FUNCTION labels_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO labels_changed VALUES (NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER labels_insert AFTER INSERT ON labels FOR EACH ROW EXECUTE FUNCTION labels_insert();

CREATE OR REPLACE FUNCTION labels_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO labels_changed VALUES (OLD.id) ON CONFLICT (id) DO NOTHING;
    RETURN NULL;
END $$;

-- ---- values of tags

ALTER TABLE tag_values ADD COLUMN label int8 REFERENCES labels (id); -- of its value; set by a trigger

INSERT INTO labels (kind, name) SELECT DISTINCT 3, value FROM tag_values;
UPDATE tag_values SET label = (SELECT id FROM labels WHERE kind = 3 AND name = value);
CREATE INDEX tag_values_label ON tag_values (label);

CREATE FUNCTION tag_values_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO labels (kind, name) VALUES (3, NEW.value) ON CONFLICT (kind, name) DO NOTHING;
    UPDATE tag_values SET label = (SELECT id FROM labels WHERE kind = 3 AND name = NEW.value) WHERE id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER tag_values_insert AFTER INSERT ON tag_values FOR EACH ROW EXECUTE FUNCTION tag_values_insert();

CREATE FUNCTION tag_values_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM labels WHERE id = OLD.label AND kind = 3 AND NOT EXISTS (SELECT 1 FROM tag_values WHERE label = OLD.label);
    RETURN NULL;
END $$;
CREATE TRIGGER tag_values_delete AFTER DELETE ON tag_values FOR EACH ROW EXECUTE FUNCTION tag_values_delete();

-- ---- titles of events

CREATE TABLE event_titles (
    recording int8 NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    label int8 NOT NULL REFERENCES labels (id),
    events int8 NOT NULL,
    PRIMARY KEY (recording, label)
);

INSERT INTO labels (kind, name) SELECT DISTINCT 4, title FROM events;
INSERT INTO event_titles (recording, label, events)
SELECT e.recording, l.id, count(*) FROM events AS e JOIN labels AS l ON l.kind = 4 AND l.name = e.title GROUP BY e.recording, l.id;
CREATE INDEX event_titles_label ON event_titles (label, recording);

CREATE FUNCTION event_title_add(int8, text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO labels (kind, name) VALUES (4, $2) ON CONFLICT (kind, name) DO NOTHING;
    INSERT INTO event_titles SELECT $1, id, 1 FROM labels WHERE kind = 4 AND name = $2
    ON CONFLICT (recording, label) DO UPDATE SET events = event_titles.events + 1;
END $$;

CREATE FUNCTION event_title_remove(int8, text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    UPDATE event_titles AS t SET events = t.events - 1 WHERE t.recording = $1 AND t.label = (SELECT id FROM labels WHERE kind = 4 AND name = $2);
    DELETE FROM event_titles AS t WHERE t.recording = $1 AND t.label = (SELECT id FROM labels WHERE kind = 4 AND name = $2) AND t.events = 0;
END $$;

CREATE FUNCTION event_titles_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM event_title_add(NEW.recording, NEW.title);
    RETURN NULL;
END $$;
CREATE TRIGGER event_titles_insert AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION event_titles_insert();

CREATE FUNCTION event_titles_remove() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM event_title_remove(OLD.recording, OLD.title);
    RETURN NULL;
END $$;
CREATE TRIGGER event_titles_remove AFTER DELETE ON events FOR EACH ROW EXECUTE FUNCTION event_titles_remove();

CREATE FUNCTION event_titles_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM event_title_add(NEW.recording, NEW.title);
    PERFORM event_title_remove(OLD.recording, OLD.title);
    RETURN NULL;
END $$;
CREATE TRIGGER event_titles_update AFTER UPDATE OF title ON events FOR EACH ROW WHEN (OLD.title <> NEW.title) EXECUTE FUNCTION event_titles_update();

CREATE FUNCTION event_titles_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM labels WHERE id = OLD.label AND kind = 4 AND NOT EXISTS (SELECT 1 FROM event_titles WHERE label = OLD.label);
    RETURN NULL;
END $$;
CREATE TRIGGER event_titles_delete AFTER DELETE ON event_titles FOR EACH ROW EXECUTE FUNCTION event_titles_delete();

-- The newest recording of a collection.
CREATE INDEX recordings_newest ON recordings (collection, created_ns) WHERE state <> 4;
