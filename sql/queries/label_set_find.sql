SELECT id FROM label_sets WHERE digest = :digest;
