SELECT row, time_ns, caller, how, peer, method, path, status, request FROM audit WHERE row < :row ORDER BY row DESC LIMIT :limit;
