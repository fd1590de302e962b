UPDATE search SET topics = :topics, types = :types WHERE rowid = :row;
