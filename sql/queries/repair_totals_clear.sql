-- scan: totals: on request only (fsck)
DELETE FROM totals;
