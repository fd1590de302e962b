-- Datasets are saved by name, like searches.
ALTER TABLE saved RENAME TO saved_before;
CREATE TABLE saved (
    kind TEXT NOT NULL CHECK (kind IN ('layout', 'search', 'dataset')),
    collection TEXT NOT NULL CHECK ((kind = 'layout') = (collection <> '')),
    name TEXT NOT NULL CHECK (length(name) > 0),
    value TEXT NOT NULL,
    author TEXT NOT NULL, -- who saved it last
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL, -- grows with every change: the row's version
    PRIMARY KEY (kind, collection, name)
) STRICT;
INSERT INTO saved (kind, collection, name, value, author, created_ns, updated_ns)
SELECT kind, collection, name, value, author, created_ns, updated_ns FROM saved_before;
DROP TABLE saved_before;
