DELETE FROM saved WHERE kind = :kind AND collection = :collection AND name = :name;
