INSERT INTO search (rowid, text) VALUES (:row, search_text(:name, :collection));
