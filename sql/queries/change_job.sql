-- The id of the job stands where a recording's does; kinds that begin with "job." say so.
INSERT INTO changes (kind, recording, collection, name, detail_name, detail) VALUES (:kind, :id, :collection, :subject, 'kind', :work);
