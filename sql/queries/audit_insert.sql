INSERT INTO audit (time_ns, caller, how, peer, method, path, status, request)
VALUES (:time, :caller, :how, :peer, :method, :path, :status, :request) RETURNING row;
