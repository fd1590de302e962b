-- A run of recordings in no particular order, for start-up checks.
SELECT row FROM recordings WHERE row > :row ORDER BY row LIMIT :limit;
