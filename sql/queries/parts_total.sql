-- scan: parts: once for each integrity check
SELECT count(*), coalesce(sum(size), 0) FROM (SELECT max(size) AS size FROM parts INDEXED BY parts_sha256 GROUP BY sha256) AS found;
