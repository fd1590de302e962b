-- To a collection that has no recordings yet, so its revision stays.
UPDATE recordings SET collection = :collection, updated_ns = max(:now, updated_ns + 1) WHERE row = :row;
