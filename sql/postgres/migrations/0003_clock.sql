-- The clock that a user set for a recording, which scans keep.
ALTER TABLE recordings ADD COLUMN set_clock int8 CHECK (set_clock IN (0, 1)); -- as clock; NULL: none
