-- Whether a topic or type, or with :metadata a metadata entry, has this text.
SELECT 1 FROM label_search CROSS JOIN labels AS l ON l.id = label_search.rowid WHERE label_search MATCH :match AND (l.kind = 2) = (:metadata = 1) LIMIT 1;
