-- Definitions of message types that users supply for recordings that hold none.
CREATE TABLE definitions (
    name TEXT NOT NULL PRIMARY KEY CHECK (length(name) > 0), -- pkg/Type, pkg/srv/Type, pkg/action/Type, pkg/msg/Type.idl
    text TEXT NOT NULL,
    author TEXT NOT NULL, -- who supplied it last
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL -- grows with every change: the row's version
) STRICT, WITHOUT ROWID;
