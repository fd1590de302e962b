SELECT row FROM recordings WHERE id = :id;
