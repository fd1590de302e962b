UPDATE saved SET collection = :name WHERE kind = 'layout' AND collection = :was;
