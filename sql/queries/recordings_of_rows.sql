-- In the order of rows; the first column is the row. :rows: a JSON array.
SELECT {columns} FROM recordings WHERE row IN (SELECT value FROM {ints :rows}) ORDER BY row;
