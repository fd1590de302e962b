-- The formats that there are: a handful.
SELECT name FROM totals WHERE collection = '' AND kind = 0 AND recordings > 0;
