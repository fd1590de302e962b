-- How many recordings one glob leaves, counted no further than :limit. Of the labels all distinct names of the kind are looked at.
SELECT count(*) FROM (
    SELECT 1 FROM labels CROSS JOIN recording_labels AS link ON link.label = labels.id
    WHERE labels.kind = :kind AND glob_match(:glob, labels.name) LIMIT :limit
);
