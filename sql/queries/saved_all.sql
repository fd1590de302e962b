-- scan: saved: for its copy outside of the catalog, when something was saved
SELECT kind, collection, name, value, author, created_ns, updated_ns FROM saved ORDER BY kind, collection, name;
