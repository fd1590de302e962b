-- The id of the job stands where a recording's does; kinds that begin with "job." say so.
INSERT INTO changes (kind, recording, collection, name, about, text) VALUES (:kind, :id, :collection, :subject, 'kind', :work);
