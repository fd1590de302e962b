-- A recording from its manifest, with its own id and revision; a revision that is taken becomes the next free one.
INSERT INTO recordings ({inserted}, revision, state, state_before_trash, created_ns, updated_ns)
VALUES ({:inserted},
    iif(EXISTS (SELECT 1 FROM recordings WHERE collection = :collection AND name = :name AND revision = :revision),
        (SELECT max(revision) + 1 FROM recordings WHERE collection = :collection AND name = :name), :revision),
    iif(:trashed = 1, 4, :state), :state, :created_ns, :now)
RETURNING row, revision;
