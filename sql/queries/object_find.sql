SELECT location, etag, size FROM objects WHERE sha256 = :sha256;
