INSERT INTO label_search (row, text)
SELECT l.id, v.text FROM unnest(texts_of(:labels), texts_of(search_texts(:labels))) AS v (label, text)
JOIN labels AS l ON l.kind = CAST(substr(v.label, 1, 1) AS INTEGER) AND l.name = substr(v.label, 2);
