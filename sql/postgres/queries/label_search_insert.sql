INSERT INTO label_search (row, text) SELECT id, search_text(:name) FROM labels WHERE kind = :kind AND name = :name;
