DELETE FROM search WHERE row = :row;
