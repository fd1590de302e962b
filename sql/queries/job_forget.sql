DELETE FROM jobs WHERE id = :id AND state = 2;
