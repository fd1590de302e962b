-- What nobody has any more. scan: rot: as few as there are
DELETE FROM rot WHERE NOT EXISTS (SELECT 1 FROM parts WHERE parts.sha256 = rot.sha256);
