-- scan: recordings: on request only (fsck)
UPDATE recordings SET notes = (SELECT count(*) FROM notes AS x WHERE x.recording = recordings.row),
    events = (SELECT count(*) FROM events AS x WHERE x.recording = recordings.row)
WHERE notes <> (SELECT count(*) FROM notes AS x WHERE x.recording = recordings.row)
    OR events <> (SELECT count(*) FROM events AS x WHERE x.recording = recordings.row);
