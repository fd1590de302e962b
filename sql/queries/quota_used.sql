SELECT coalesce(sum(recordings), 0), coalesce(sum(bytes), 0) FROM sums WHERE collection = :name AND state <> 4;
