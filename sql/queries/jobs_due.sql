-- scan: jobs: the index of queued ones
SELECT lane, min(not_before_ns) FROM jobs WHERE state = 0 AND home IN ('', :home) GROUP BY lane;
