SELECT {columns} FROM recordings WHERE row = :row;
