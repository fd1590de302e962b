SELECT id, owner, idempotency_key, request, options, metadata, concat, draft, checked, length, confirmed, state, content, recording, created_ns, expires_ns, row FROM uploads WHERE id = :id;
