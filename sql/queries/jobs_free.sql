-- scan: jobs: the index of running ones
-- Leases that have run out; at start also those of earlier processes of this server (:home), or with :all of every process, where one alone uses
-- the catalog.
UPDATE jobs SET state = 0, lease_owner = '', lease_until_ns = 0 WHERE state = 1 AND (:all = 1 OR lease_until_ns < :now OR (:home <> '' AND lease_owner LIKE :home || ':%'));
