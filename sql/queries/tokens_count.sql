-- scan: tokens: as many as there may be, at the most (TOKENS_MAX)
SELECT count(*) FROM tokens;
