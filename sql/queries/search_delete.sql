DELETE FROM search WHERE rowid = :row;
