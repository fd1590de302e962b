-- How many there are like this one, and in total; the characters of all. scan: saved: a few megabytes at most, when something is saved
SELECT coalesce(sum(CASE WHEN kind = :kind AND collection = :collection THEN 1 ELSE 0 END), 0), count(*), coalesce(sum(length(value)), 0)
FROM saved;
