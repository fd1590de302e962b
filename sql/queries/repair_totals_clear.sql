-- scan: totals: by hand only
DELETE FROM totals;
