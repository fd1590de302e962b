SELECT seq, time_ns, took_ms, status, problem FROM webhook_results WHERE webhook = :row ORDER BY row DESC LIMIT 20;
