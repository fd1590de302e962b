SELECT * FROM jobs WHERE row < :row ORDER BY row DESC LIMIT :limit;
