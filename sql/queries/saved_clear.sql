-- Of a collection that is gone, whose name another one gets.
DELETE FROM saved WHERE kind = 'layout' AND collection = :name;
