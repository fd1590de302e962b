-- Sets the problem of every recording of that file; '' clears it where a scrub has set it.
UPDATE recordings SET problem = :text, updated_ns = max(:now, updated_ns + 1)
WHERE row IN (SELECT recording FROM parts WHERE sha256 = :sha256) AND state IN (0, 1, 4)
    AND problem <> :text AND (problem = '' OR substr(problem, 1, length(:mark)) = :mark);
