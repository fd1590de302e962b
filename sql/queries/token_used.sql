UPDATE tokens SET used_ns = :now WHERE row = :row;
