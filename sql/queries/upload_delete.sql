DELETE FROM uploads WHERE id = :id;
