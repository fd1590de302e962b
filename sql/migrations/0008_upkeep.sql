-- What upkeep remembers.

-- 'copied': this catalog is a backup's copy that no server has run on yet, and when it was made; 'scrub': how far the last look at the stored
-- files is, and what it found (JSON, server/upkeep/scrub.c); 'backup': what the last one made by a server holds (JSON); 'stopped': when the last server ended
-- as it should.
CREATE TABLE upkeep (
    key TEXT PRIMARY KEY CHECK (length(key) > 0),
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Stored files whose bytes are no longer what their name says.
CREATE TABLE rot (
    sha256 BLOB PRIMARY KEY CHECK (length(sha256) = 32),
    found_ns INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
