-- scan: uploads: those that are open or partial are at most 10,000; once for each object that a session has left for a day, and by reel fsck
SELECT EXISTS (SELECT 1 FROM uploads WHERE (state = 0 OR concat = 'partial') AND note LIKE '%' || :name || '%');
