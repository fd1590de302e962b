UPDATE search SET name = :name, collection = :collection WHERE rowid = :row;
