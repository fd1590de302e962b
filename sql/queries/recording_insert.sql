-- A new recording. The revision is one more than the highest of that name, trash included. {inserted}: catalog/columns.h
INSERT INTO recordings ({inserted}, revision, state, state_before_trash, created_ns, updated_ns)
VALUES ({:inserted}, (SELECT coalesce(max(revision), 0) + 1 FROM recordings WHERE collection = :collection AND name = :name),
    :state, iif(:state = 4, 3, :state), :now, :now)
RETURNING row, revision;
