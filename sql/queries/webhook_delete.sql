DELETE FROM webhooks WHERE row = :row;
