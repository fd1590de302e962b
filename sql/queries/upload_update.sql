UPDATE uploads SET checked = :checked, length = :length, confirmed = :offset, state = :state, content = :content, recording = :recording, expires_ns = :expires
WHERE id = :id;
