-- The names of a collection in their order, each as often as it has revisions outside of the trash, the newest first. may sort
SELECT r.row, r.name FROM recordings AS r
WHERE r.collection = :collection AND r.name >= :from AND r.name < :end AND r.state <> 4 ORDER BY r.name, r.revision DESC LIMIT :limit;
