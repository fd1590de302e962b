-- name: audit_insert
INSERT INTO audit (time_ns, caller, how, peer, method, path, status, request)
VALUES (:time, :caller, :how, :peer, :method, :path, :status, :request) RETURNING row;

-- name: audit_trim
DELETE FROM audit WHERE row <= :row;

-- name: audit_before
SELECT row, time_ns, caller, how, peer, method, path, status, request FROM audit
WHERE row < :row
    AND (:caller = '' OR caller = :caller)
    AND (:method = '' OR method = :method)
    AND (:path = '' OR replace(path, :path, '') <> path)
    AND status BETWEEN :status_min AND :status_max
    AND time_ns >= :start AND time_ns < :end
ORDER BY row DESC LIMIT :limit;
