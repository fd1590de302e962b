-- Counted over recordings that were found, which are a bounded number. kind: 0 by format, 1 by state, 2 by collection. may sort
SELECT name, count(*) FROM (
    SELECT CASE :kind WHEN 0 THEN r.format WHEN 1 THEN CAST(r.state AS TEXT) ELSE r.collection END AS name
    FROM recordings AS r WHERE r.row {in rows :rows}
) AS found WHERE name >= :from AND (:first = 1 OR name > :after) AND name < :end GROUP BY name ORDER BY name LIMIT :limit;
