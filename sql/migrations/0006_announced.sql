-- State 7: announced, the file is still on a robot. No row is touched: SQLite has no other way to change a CHECK without writing the table anew
-- (https://sqlite.org/lang_altertable.html, section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(replace(sql, 'BETWEEN 0 AND 6)', 'BETWEEN 0 AND 7)'), '(0, 1, 2, 3, 5, 6)', '(0, 1, 2, 3, 5, 6, 7)')
WHERE type = 'table' AND name = 'recordings';
PRAGMA writable_schema = RESET;
-- Of the announcement (server/catalog/announced.h): SHA-256 of the file, agent and robot, separated by spaces; '' for all others.
ALTER TABLE recordings ADD COLUMN announced TEXT NOT NULL DEFAULT '';
-- What users want of announced recordings, and what the robot answered.
CREATE TABLE fetches (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    recording INTEGER NOT NULL REFERENCES recordings (row) ON DELETE CASCADE,
    agent BLOB NOT NULL CHECK (length(agent) = 16), -- whose file it is
    start_ns INTEGER, -- of the part that is wanted, on the recording's own clock; NULL: the whole file
    end_ns INTEGER CHECK ((start_ns IS NULL) = (end_ns IS NULL)),
    author TEXT NOT NULL,
    asked_ns INTEGER NOT NULL,
    answered_ns INTEGER NOT NULL DEFAULT 0, -- 0: it waits for the robot
    problem TEXT NOT NULL DEFAULT '', -- why it cannot be had; '' otherwise
    result BLOB CHECK (length(result) = 16) -- the recording that has the part
) STRICT;
CREATE INDEX fetches_recording ON fetches (recording, row);
CREATE INDEX fetches_waiting ON fetches (agent, row) WHERE answered_ns = 0;
