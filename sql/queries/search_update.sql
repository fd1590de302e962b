UPDATE search SET topics = :topics, types = :types, metadata = :metadata WHERE rowid = :row;
