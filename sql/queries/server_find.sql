SELECT address, beat_ns FROM servers WHERE id = :id;
