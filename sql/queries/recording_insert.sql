-- A new recording; the revision counts on from every one of that name, also those in the trash.
INSERT INTO recordings (
    id, collection, name, revision, state, state_before_trash, content, size, format, container, clock, clock_note, start_ns, end_ns, duration_ns,
    messages, payload_bytes, channels, damaged, findings, lost_bytes, problem, created_ns, updated_ns
) VALUES (
    :id, :collection, :name,
    (SELECT coalesce(max(revision), 0) + 1 FROM recordings WHERE collection = :collection AND name = :name),
    :state, min(:state, 3), :content, :size, :format, :container, :clock, :clock_note, :start_ns, :end_ns, :duration_ns,
    :messages, :payload_bytes, :channels, :damaged, :findings, :lost_bytes, :problem, :now, :now
) RETURNING row, revision;
