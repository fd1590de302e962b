DELETE FROM jobs WHERE row IN (SELECT row FROM jobs WHERE state > 1 AND ended_ns < :before LIMIT 1000);
