UPDATE objects SET location = :location, etag = :etag, size = :size WHERE sha256 = :sha256;
