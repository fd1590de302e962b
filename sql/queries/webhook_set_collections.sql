UPDATE webhooks SET collections = :collections WHERE row = :row;
