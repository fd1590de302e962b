DELETE FROM search WHERE row NOT IN (SELECT row FROM recordings);
