SELECT f.row, f.folder, f.name, coalesce(r.id, ''), f.collection, f.code, iif(f.recording IS NULL, f.reason, r.problem), f.request, f.tries, f.first_ns, f.last_ns,
    coalesce(r.name, '')
FROM failures AS f LEFT JOIN recordings AS r ON r.row = f.recording WHERE f.row > :row ORDER BY f.row LIMIT :limit;
