-- scan: recordings: on request only (fsck)
INSERT INTO collections (name) SELECT DISTINCT collection FROM recordings WHERE state <> 4 ON CONFLICT (name) DO NOTHING;
