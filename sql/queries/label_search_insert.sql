INSERT INTO label_search (rowid, text)
SELECT l.id, search_text(l.name) FROM {texts :labels} AS v CROSS JOIN labels AS l ON l.kind = CAST(substr(v.value, 1, 1) AS INTEGER) AND l.name = substr(v.value, 2);
