-- Datasets are saved by name, like searches.
ALTER TABLE saved DROP CONSTRAINT saved_kind_check;
ALTER TABLE saved ADD CONSTRAINT saved_kind_check CHECK (kind IN ('layout', 'search', 'dataset'));
