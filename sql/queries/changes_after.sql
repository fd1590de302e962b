SELECT seq, time_ns, kind, recording, collection, name, about, text, value FROM changes WHERE seq > :seq ORDER BY seq LIMIT :limit;
