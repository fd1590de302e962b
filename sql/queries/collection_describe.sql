UPDATE collections SET description = :description WHERE name = :name RETURNING id;
