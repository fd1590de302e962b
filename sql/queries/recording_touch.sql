-- A note, an event or a tag of it has changed.
UPDATE recordings SET updated_ns = max(:now, updated_ns + 1) WHERE row = :row;
