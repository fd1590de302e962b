SELECT row, name FROM recordings WHERE collection = :name LIMIT :limit;
