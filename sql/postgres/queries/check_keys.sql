-- PostgreSQL holds its references itself.
SELECT '' WHERE FALSE;
