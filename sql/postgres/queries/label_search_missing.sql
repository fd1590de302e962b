SELECT id, CAST(json_build_array(CAST(l.kind AS TEXT) || l.name) AS TEXT), '' FROM labels AS l WHERE NOT EXISTS (SELECT 1 FROM label_search AS s WHERE s.row = l.id) LIMIT 1000;
