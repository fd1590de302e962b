DELETE FROM imports WHERE folder = :folder AND name = :name;
