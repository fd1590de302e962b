INSERT INTO import_runs (request) VALUES (:request) RETURNING row;
