-- scan: labels_deleted: what this transaction deletes
DELETE FROM labels_deleted;
