-- scan: recordings: by hand only
INSERT INTO collections (name) SELECT DISTINCT collection FROM recordings WHERE state <> 4 ON CONFLICT (name) DO NOTHING;
