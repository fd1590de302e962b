INSERT INTO label_search (rowid, text) SELECT id, search_text(:name) FROM labels WHERE kind = :kind AND name = :name;
