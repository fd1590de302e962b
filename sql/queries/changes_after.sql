SELECT seq, time_ns, kind, recording, collection, name, detail_name, detail, detail_value FROM changes WHERE seq > :seq ORDER BY seq LIMIT :limit;
