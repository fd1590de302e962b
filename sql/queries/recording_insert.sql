-- A new recording; the revision counts on from every one of that name, also those in the trash.
INSERT INTO recordings (
    id, collection, name, revision, state, state_before_trash, content, size, format, container, clock, clock_note, start_ns, end_ns, duration_ns,
    messages, payload_bytes, channels, damaged, findings, lost_bytes, problem, created_ns, updated_ns,
    epoch_ns, description, custom, group_name
) VALUES (
    :id, :collection, :name,
    (SELECT coalesce(max(revision), 0) + 1 FROM recordings WHERE collection = :collection AND name = :name),
    :state, iif(:state = 4, 3, :state), :content, :size, :format, :container, :clock, :clock_note, :start_ns, :end_ns, :duration_ns,
    :messages, :payload_bytes, :channels, :damaged, :findings, :lost_bytes, :problem, :now, :now,
    :epoch, coalesce(:description, ''), coalesce(:custom, ''), :group
) RETURNING row, revision;
