UPDATE uploads SET checked = :checked, length = :length, offset = :offset, state = :state, content = :content, recording = :recording, expires_ns = :expires
WHERE id = :id;
