INSERT INTO search (rowid, name, collection, topics, types) VALUES (:row, :name, :collection, :topics, :types);
