INSERT INTO corrupted_files (sha256, found_ns, problem) VALUES (:sha256, :now, :text) ON CONFLICT (sha256) DO UPDATE SET problem = excluded.problem;
