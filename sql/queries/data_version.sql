-- Another number after each commit of another connection, of any process.
PRAGMA data_version
