SELECT row, name, collection FROM recordings AS r WHERE NOT EXISTS (SELECT 1 FROM search AS s WHERE s.row = r.row) LIMIT 1000;
