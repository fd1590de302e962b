-- The newest revision that is not in the trash: what the name means.
SELECT row FROM recordings WHERE collection = :collection AND name = :name AND state <> 4 ORDER BY revision DESC LIMIT 1;
