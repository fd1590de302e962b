DELETE FROM failures WHERE folder = :folder AND name = :name;
