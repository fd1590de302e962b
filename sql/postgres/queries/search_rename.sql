UPDATE search SET text = search_text(:name, :collection) WHERE row = :row;
