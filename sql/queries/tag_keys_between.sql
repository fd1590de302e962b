SELECT id, name FROM tag_keys WHERE name >= :from AND name <= :end;
