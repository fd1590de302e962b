INSERT INTO label_sets (digest) VALUES (:digest) RETURNING id;
