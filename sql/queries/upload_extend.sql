UPDATE uploads SET expires_ns = :expires WHERE id = :id;
