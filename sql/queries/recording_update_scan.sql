-- What a scan found. In the trash it changes what the recording will be when it comes back.
UPDATE recordings SET
    state = iif(state = 4, 4, :state), state_before_trash = :state, format = :format, container = :container, clock = :clock, clock_note = :clock_note,
    start_ns = :start_ns, end_ns = :end_ns, duration_ns = :duration_ns, messages = :messages, payload_bytes = :payload_bytes, channels = :channels,
    damaged = :damaged, findings = :findings, lost_bytes = :lost_bytes, problem = :problem, updated_ns = max(:now, updated_ns + 1)
WHERE id = :id RETURNING row;
