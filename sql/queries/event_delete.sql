DELETE FROM events WHERE row = :row;
