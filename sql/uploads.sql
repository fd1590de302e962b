-- name: upload_by_id
SELECT id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, confirmed, state,
    content, recording, created_ns, expires_ns, row, note, turn
FROM uploads WHERE id = :id;

-- name: upload_by_key
SELECT id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, confirmed, state,
    content, recording, created_ns, expires_ns, row, note, turn
FROM uploads WHERE owner = :owner AND idempotency_key = :key AND idempotency_key <> '';

-- name: upload_after
SELECT id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, confirmed, state,
    content, recording, created_ns, expires_ns, row, note, turn
FROM uploads WHERE row > :row ORDER BY row LIMIT 1;

-- name: upload_expired
SELECT id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, confirmed, state,
    content, recording, created_ns, expires_ns, row, note, turn
FROM uploads WHERE expires_ns < :now ORDER BY expires_ns LIMIT 1;

-- name: uploads_unfinished
-- Sessions of a principal that hold bytes or reserve them: not complete, or partial ones that wait for their final
-- upload.
SELECT count(*) FROM uploads WHERE owner = :owner AND (state = 0 OR concat = 'partial');

-- name: upload_insert
-- scan: uploads: of an index; those that are open are at most 10,000
-- A new session, unless its principal has too many unfinished ones (uploads_unfinished), or the room does not
-- suffice for it and for what the others still have to send.
INSERT INTO uploads (
    id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, confirmed, state, content,
    recording, created_ns, expires_ns, note, turn
)
SELECT :id, :owner, :key, :request, :options, :metadata, :concat, :draft, :checked, :length, :offset, :state, :content,
    :recording, :created, :expires, :note, 0
WHERE (SELECT count(*) FROM uploads WHERE owner = :owner AND (state = 0 OR concat = 'partial')) < :most
    AND (:length <= 0 OR :length + (SELECT coalesce(sum(length - confirmed), 0) FROM uploads
        WHERE state = 0 AND length > confirmed) <= :room);

-- name: upload_update
UPDATE uploads
SET checked = :checked, length = :length, confirmed = :offset, state = :state, content = :content,
    recording = :recording, expires_ns = :expires, note = :note, turn = turn + 1
WHERE id = :id AND turn = :turn;

-- name: upload_extend
UPDATE uploads SET expires_ns = :expires WHERE id = :id;

-- name: upload_delete
DELETE FROM uploads WHERE id = :id;

-- name: uploads_count
-- scan: uploads: once at start; they are few
SELECT count(*) FROM uploads;

-- name: upload_of_content
-- scan: uploads: those that are open are at most 10,000; once for each content that a recording leaves
-- Set when an upload is about to end, and as long as it has not ended.
SELECT EXISTS (SELECT 1 FROM uploads WHERE content = :sha256 AND state = 0);
