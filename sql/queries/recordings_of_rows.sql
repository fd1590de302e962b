-- In the order of rows; the first column is the row. :rows: a JSON array.
SELECT {columns} FROM recordings WHERE row {in ints :rows} ORDER BY row;
