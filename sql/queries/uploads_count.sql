-- scan: uploads: once at start; they are few
SELECT count(*) FROM uploads;
