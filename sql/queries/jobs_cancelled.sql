-- scan: jobs: the index of running ones
SELECT id FROM jobs WHERE state = 1 AND cancel = 1;
