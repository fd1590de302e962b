-- When recordings that were found, a bounded number, are on the calendar. may sort
SELECT r.collection, r.calendar_start_ns, r.calendar_end_ns, r.messages
FROM recordings AS r WHERE r.row {in rows :rows} AND r.width_ns IS NOT NULL ORDER BY r.collection, r.calendar_start_ns;
