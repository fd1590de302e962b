SELECT row, request FROM import_runs WHERE row > :row ORDER BY row LIMIT 1;
