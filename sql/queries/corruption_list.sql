-- Each corrupted file with one of the recordings that use it at a time, from (:sha256, :row) on.
SELECT corrupted_files.sha256, corrupted_files.found_ns, corrupted_files.problem, p.recording, r.id, r.collection, r.name
FROM corrupted_files CROSS JOIN parts AS p ON p.sha256 = corrupted_files.sha256 CROSS JOIN recordings AS r ON r.row = p.recording
WHERE corrupted_files.sha256 >= :sha256 AND (corrupted_files.sha256, p.recording) > (:sha256, :row) LIMIT :limit;
