INSERT INTO servers (id, address, beat_ns) VALUES (:id, :address, :now)
ON CONFLICT (id) DO UPDATE SET address = excluded.address, beat_ns = excluded.beat_ns;
