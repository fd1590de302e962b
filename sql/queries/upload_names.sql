-- scan: uploads: those that are open are at most 10,000; once for each object that a session has left for a day
SELECT EXISTS (SELECT 1 FROM uploads WHERE state = 0 AND note LIKE '%' || :name || '%');
