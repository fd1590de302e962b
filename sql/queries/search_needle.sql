SELECT search_needle(:word, :phrase);
