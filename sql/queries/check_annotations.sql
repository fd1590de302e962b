-- scan: r: on request only (fsck)
SELECT 'of ' || collection || '/' || name || ' the catalog counts ' || notes || ' notes and ' || events || ' events; there are ' || n || ' and ' || e
FROM (SELECT collection, name, notes, events, (SELECT count(*) FROM notes AS x WHERE x.recording = r.row) AS n,
    (SELECT count(*) FROM events AS x WHERE x.recording = r.row) AS e FROM recordings AS r) AS r
WHERE notes <> n OR events <> e;
