-- PostgreSQL holds its indexes itself.
SELECT '' WHERE FALSE;
