-- scan: jobs: the index of those that have not ended
SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1) FROM jobs WHERE state < 2;
