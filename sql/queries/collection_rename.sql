UPDATE collections SET name = :name WHERE name = :was;
