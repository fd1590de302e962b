-- scan: manifests_due: its first row
SELECT EXISTS (SELECT 1 FROM manifests_due);
