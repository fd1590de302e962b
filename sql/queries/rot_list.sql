-- Each rotten file with one of the recordings that use it at a time, from (:sha256, :row) on.
SELECT rot.sha256, rot.found_ns, rot.text, p.recording, r.id, r.collection, r.name
FROM rot CROSS JOIN parts AS p ON p.sha256 = rot.sha256 CROSS JOIN recordings AS r ON r.row = p.recording
WHERE rot.sha256 >= :sha256 AND (rot.sha256, p.recording) > (:sha256, :row) LIMIT :limit;
