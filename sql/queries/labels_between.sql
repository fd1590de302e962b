-- Distinct names of one kind in a range; the caller stops after a bounded number.
SELECT id, name FROM labels WHERE kind = :kind AND name >= :from AND name <= :end;
