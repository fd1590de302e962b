-- Kinds that begin with "job." have the id of the job instead of a recording's.
INSERT INTO changes (kind, recording, collection, name, detail_name, detail) VALUES (:kind, :id, :collection, :subject, 'kind', :work);
