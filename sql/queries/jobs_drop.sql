-- scan: jobs: the index of those that have not ended
-- Of a copy: what was under way in the original is not to be done here; scans are added again at its start.
DELETE FROM jobs WHERE state < 2;
