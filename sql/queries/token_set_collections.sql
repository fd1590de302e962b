UPDATE tokens SET collections = :collections WHERE row = :row;
