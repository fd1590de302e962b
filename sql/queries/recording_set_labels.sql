UPDATE recordings SET channel_labels = :channels, metadata_labels = :metadata WHERE row = :row;
