UPDATE events SET start_ns = :start, end_ns = :end, title = :title, tags = :tags, updated_ns = max(:now, updated_ns + 1) WHERE row = :row;
