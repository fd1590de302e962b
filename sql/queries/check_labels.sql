-- scan: s: on request only (fsck)
SELECT 'of a set of topics, types or metadata the catalog counts ' || recordings || ' recordings; there are ' || n
FROM (SELECT recordings, (SELECT count(*) FROM recordings AS r WHERE r.channel_labels = s.id AND r.state <> 4) +
    (SELECT count(*) FROM recordings AS r WHERE r.metadata_labels = s.id AND r.state <> 4) AS n FROM label_sets AS s) AS found WHERE recordings <> n;
