-- scan: collections: for their manifest, when a description has changed
SELECT name, description FROM collections ORDER BY name;
