-- Of those that are revoked the oldest go; they are only kept to be shown.
-- scan: tokens: as many as there may be, at the most (TOKENS_MAX)
DELETE FROM tokens WHERE row = (SELECT min(row) FROM tokens WHERE revoked_ns > 0);
