-- Parts and label links go with it.
DELETE FROM recordings WHERE row = :row;
