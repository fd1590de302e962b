SELECT row FROM recordings WHERE state = :state AND row > :row ORDER BY row LIMIT :limit;
