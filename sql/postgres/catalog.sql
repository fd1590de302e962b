-- name: catalog_is_new
SELECT NOT (SELECT is_called FROM recordings_row_seq);

-- name: schema_version
SELECT version FROM catalog_state;

-- name: data_version
SELECT commits FROM catalog_state;
