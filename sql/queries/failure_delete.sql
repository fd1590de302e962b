DELETE FROM failures WHERE row = :row RETURNING row;
