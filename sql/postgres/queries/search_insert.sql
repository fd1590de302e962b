INSERT INTO search (row, text) VALUES (:row, search_text(:name, :collection));
