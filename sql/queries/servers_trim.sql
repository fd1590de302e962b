-- scan: servers: a row for each server
DELETE FROM servers WHERE beat_ns < :before;
