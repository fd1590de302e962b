-- A new session.
INSERT INTO uploads (
    id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, offset, state, content, recording, created_ns, expires_ns
) VALUES (
    :id, :owner, :key, :request, :options, :metadata, :concat, :draft, :checked, :length, :offset, :state, :content, :recording, :created, :expires
);
