UPDATE uploads SET checked = :checked, length = :length, confirmed = :offset, state = :state, content = :content, recording = :recording, expires_ns = :expires, note = :note, turn = turn + 1
WHERE id = :id AND turn = :turn;
