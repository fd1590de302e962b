-- A recording as its manifest has it, with its own id and revision; a revision that is taken becomes the next one.
INSERT INTO recordings (
    id, collection, name, revision, state, state_before_trash, content, size, format, container, clock, clock_note, start_ns, end_ns, duration_ns,
    messages, payload_bytes, channels, damaged, findings, lost_bytes, problem, created_ns, updated_ns,
    epoch_ns, description, custom, group_name
) VALUES (
    :id, :collection, :name,
    iif(EXISTS (SELECT 1 FROM recordings WHERE collection = :collection AND name = :name AND revision = :revision),
        (SELECT max(revision) + 1 FROM recordings WHERE collection = :collection AND name = :name), :revision),
    iif(:trashed, 4, :state), :state, :content, :size, :format, :container, :clock, :clock_note, :start_ns, :end_ns, :duration_ns,
    :messages, :payload_bytes, :channels, :damaged, :findings, :lost_bytes, :problem, :created, :now,
    :epoch, coalesce(:description, ''), coalesce(:custom, ''), :group
) RETURNING row, revision;
