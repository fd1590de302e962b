INSERT INTO failures (folder, name, collection, code, reason, request, tries, first_ns, last_ns)
VALUES (:folder, :name, :collection, :code, :reason, :request, 1, :now, :now)
ON CONFLICT (folder, name) DO UPDATE SET collection = excluded.collection, code = excluded.code, reason = excluded.reason, request = excluded.request,
    tries = failures.tries + 1, last_ns = excluded.last_ns
RETURNING row;
