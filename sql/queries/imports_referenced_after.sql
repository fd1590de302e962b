SELECT i.folder, i.name, i.content FROM imports AS i INDEXED BY imports_referenced
WHERE i.mode = 2 AND (i.folder, i.name) > (:folder, :name) ORDER BY i.folder, i.name LIMIT :limit;
