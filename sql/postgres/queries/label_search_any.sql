-- Whether a topic or type, or with :metadata a metadata entry, has this text.
SELECT 1 FROM label_search AS s JOIN labels AS l ON l.id = s.row WHERE s.text LIKE :match AND (l.kind = 2) = (:metadata = 1) LIMIT 1;
