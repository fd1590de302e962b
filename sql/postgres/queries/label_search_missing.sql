SELECT id, name, '', kind FROM labels AS l WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.row = l.id) LIMIT 1000;
