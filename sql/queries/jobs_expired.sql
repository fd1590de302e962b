SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 1 AND lease_until_ns < :now);
