-- scan: uploads: of an index; those that are open are at most 10,000
-- A new session, unless its principal has too many unfinished ones (uploads_unfinished.sql), or the room does not suffice for it and for what the
-- others still have to send.
INSERT INTO uploads (
    id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, confirmed, state, content, recording, created_ns, expires_ns, note, turn
)
SELECT :id, :owner, :key, :request, :options, :metadata, :concat, :draft, :checked, :length, :offset, :state, :content, :recording, :created, :expires, :note, 0
WHERE (SELECT count(*) FROM uploads WHERE owner = :owner AND (state = 0 OR concat = 'partial')) < :most
    AND (:length <= 0 OR :length + (SELECT coalesce(sum(length - confirmed), 0) FROM uploads WHERE state = 0 AND length > confirmed) <= :room);
