UPDATE tokens SET revoked_ns = :now WHERE row = :row AND revoked_ns = 0 RETURNING row;
