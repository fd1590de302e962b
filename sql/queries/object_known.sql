SELECT EXISTS (SELECT 1 FROM objects WHERE location = :location AND etag = '');
