-- As for a new recording the revision counts on from every one of that name.
UPDATE recordings SET collection = :collection, name = :name,
    revision = (SELECT coalesce(max(revision), 0) + 1 FROM recordings WHERE collection = :collection AND name = :name)
WHERE row = :row;
