SELECT r.id FROM parts AS p CROSS JOIN recordings AS r ON r.row = p.recording WHERE p.sha256 = :sha256 LIMIT :limit;
