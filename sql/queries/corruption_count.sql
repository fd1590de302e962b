-- scan: corrupted_files: as many as there are
SELECT count(*), 0 FROM corrupted_files;
