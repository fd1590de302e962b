-- name: row_by_name
-- The newest revision that is not in the trash: what the name means.
SELECT row FROM recordings
WHERE collection = :collection AND name = :name AND state <> 4 ORDER BY revision DESC LIMIT 1;

-- name: row_by_content
-- The newest recording of a content; one in the trash only when there is no other.
-- may sort: the few recordings of one content
SELECT row FROM recordings WHERE content = :content ORDER BY state = 4, row DESC LIMIT 1;

-- name: row_by_id
SELECT row FROM recordings WHERE id = :id;

-- name: content_used
SELECT EXISTS (SELECT 1 FROM recordings WHERE content = :sha256);

-- name: blob_used
SELECT EXISTS (SELECT 1 FROM parts WHERE sha256 = :sha256);

-- name: recording_insert
-- A new recording. The revision is one more than the highest of that name, trash included.
-- {inserted}: catalog/columns.h
INSERT INTO recordings ({inserted}, revision, state, state_before_trash, created_ns, updated_ns)
VALUES ({:inserted},
    (SELECT coalesce(max(revision), 0) + 1 FROM recordings WHERE collection = :collection AND name = :name),
    :state, iif(:state = 4, 3, :state), :now, :now)
RETURNING row, revision;

-- name: part_insert
INSERT INTO parts (recording, position, sha256, size, file_name) VALUES (:row, :position, :sha256, :size, :file_name);

-- name: recording_update_scan
-- The results of a scan. For a trashed recording they become its state after it is restored.
UPDATE recordings
SET state = iif(state = 4, 4, :state), state_before_trash = :state, {scanned}, updated_ns = max(:now, updated_ns + 1)
WHERE id = :id RETURNING row;

-- name: recording_set_content
-- The recording gets other files; recording_update_scan writes their scan in the same transaction.
UPDATE recordings SET content = :content, size = :size, announced = :announced, updated_ns = max(:now, updated_ns + 1)
WHERE id = :id RETURNING row;

-- name: parts_delete
DELETE FROM parts WHERE recording = :row;

-- name: recording_set_state
UPDATE recordings
SET state = iif(state = 4, 4, :state), state_before_trash = :state, problem = :problem,
    updated_ns = max(:now, updated_ns + 1)
WHERE id = :id RETURNING row;

-- name: recording_trash
UPDATE recordings SET state = 4, updated_ns = max(:now, updated_ns + 1) WHERE id = :id RETURNING row;

-- name: recording_restore
UPDATE recordings SET state = state_before_trash, updated_ns = max(:now, updated_ns + 1) WHERE id = :id RETURNING row;

-- name: recording_delete
-- Parts and label links go with it.
DELETE FROM recordings WHERE row = :row;

-- name: recordings_of_rows
-- In the order of rows; the first column is the row. :rows: a JSON array.
SELECT {columns} FROM recordings WHERE row {in ints :rows} ORDER BY row;

-- name: parts_of_rows
SELECT recording, sha256, size, file_name FROM parts WHERE recording {in ints :rows} ORDER BY recording, position;

-- name: recording_touch
-- A note, an event or a tag of it has changed.
UPDATE recordings SET updated_ns = max(:now, updated_ns + 1) WHERE row = :row;

-- name: recording_rename
-- As for a new recording the revision counts on from every one of that name.
UPDATE recordings SET collection = :collection, name = :name,
    revision = (SELECT coalesce(max(revision), 0) + 1 FROM recordings WHERE collection = :collection AND name = :name)
WHERE row = :row;

-- name: recording_annotate
UPDATE recordings SET description = :description, custom = :custom, epoch_ns = :epoch_ns WHERE row = :row;

-- name: recording_set_clock
UPDATE recordings SET clock = :clock, clock_note = :clock_note, set_clock = :set_clock WHERE row = :row;

-- name: rows_after
-- A run of recordings in no particular order, for start-up checks.
SELECT row FROM recordings WHERE row > :row ORDER BY row LIMIT :limit;

-- name: recording_adopt
-- A recording from its manifest, with its own id and revision; a revision that is taken becomes the next free one.
INSERT INTO recordings ({inserted}, revision, state, state_before_trash, created_ns, updated_ns)
VALUES ({:inserted},
    iif(EXISTS (SELECT 1 FROM recordings WHERE collection = :collection AND name = :name AND revision = :revision),
        (SELECT max(revision) + 1 FROM recordings WHERE collection = :collection AND name = :name), :revision),
    iif(:trashed = 1, 4, :state), :state, :created_ns, :now)
RETURNING row, revision;

-- name: rows_in_state
SELECT row FROM recordings WHERE state = :state AND row > :row ORDER BY row LIMIT :limit;

-- name: recording_move
-- To a collection that has no recordings yet, so its revision stays.
UPDATE recordings SET collection = :collection, updated_ns = max(:now, updated_ns + 1) WHERE row = :row;

-- name: recording_files_from
-- The recordings of a collection by name, each as often as it has revisions outside of the trash, the newest first,
-- with their first file and the number of files.
-- may sort
SELECT r.row, r.name, r.state, r.created_ns, p.sha256, p.size,
    (SELECT count(*) FROM parts AS o WHERE o.recording = r.row)
FROM recordings AS r LEFT JOIN parts AS p ON p.recording = r.row AND p.position = 0
WHERE r.collection = :collection AND r.name >= :from AND r.name < :end AND r.state <> 4
ORDER BY r.name, r.revision DESC LIMIT :limit;

-- name: recordings_of_file
SELECT r.id FROM parts AS p CROSS JOIN recordings AS r ON r.row = p.recording WHERE p.sha256 = :sha256 LIMIT :limit;

-- name: recordings_of_content
SELECT id FROM recordings WHERE content = :sha256 ORDER BY row LIMIT :limit;

-- name: recording_set_labels
UPDATE recordings SET channel_labels = :channels, metadata_labels = :metadata WHERE row = :row;

-- name: width_max
-- The widest class of length that there is.
SELECT max(width_ns) FROM recordings WHERE state <> 4 AND width_ns IS NOT NULL;
