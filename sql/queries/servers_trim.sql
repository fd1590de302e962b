DELETE FROM servers WHERE beat_ns < :before;
