INSERT INTO search (rowid, name, collection, topics, types, metadata) VALUES (:row, :name, :collection, :topics, :types, :metadata);
