DELETE FROM objects WHERE sha256 = :sha256;
