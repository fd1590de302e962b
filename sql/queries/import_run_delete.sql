DELETE FROM import_runs WHERE row = :row;
