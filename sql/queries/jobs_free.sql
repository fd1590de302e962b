-- scan: jobs: the index of running ones
-- Leases that have run out, and with :all those of every process: at start, where one process alone uses the catalog.
UPDATE jobs SET state = 0, lease_owner = '', lease_until_ns = 0 WHERE state = 1 AND (:all = 1 OR lease_until_ns < :now);
