-- Definitions of message types that users supply for recordings that hold none.
CREATE TABLE definitions (
    name text COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(name) > 0), -- pkg/Type, pkg/srv/Type, pkg/action/Type, pkg/msg/Type.idl
    text text COLLATE "C" NOT NULL,
    author text COLLATE "C" NOT NULL, -- who supplied it last
    created_ns int8 NOT NULL,
    updated_ns int8 NOT NULL -- grows with every change: the row's version
);
