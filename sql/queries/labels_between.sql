-- Distinct names of one kind in a range; whoever asks gives up after a bounded number.
SELECT id, name FROM labels WHERE kind = :kind AND name >= :from AND name <= :end;
