SELECT
    row, id, collection, name, revision, state, state_before_trash, content, size, format, container, clock, clock_note, start_ns, end_ns,
    messages, payload_bytes, channels, damaged, findings, lost_bytes, problem, created_ns, updated_ns, epoch_ns IS NOT NULL, epoch_ns, notes, events,
    description, custom, group_name
FROM recordings WHERE row = :row;
