-- The newest recording of a content; one in the trash only when there is no other. may sort: the few recordings of one content
SELECT row FROM recordings WHERE content = :content ORDER BY state = 4, row DESC LIMIT 1;
