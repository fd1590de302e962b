SELECT EXISTS (SELECT 1 FROM imports WHERE folder = :folder AND name = :name);
