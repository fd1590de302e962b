-- scan: rot: as few as there are
SELECT count(*), 0 FROM rot;
