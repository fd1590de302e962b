UPDATE recordings SET description = :description, custom = :custom, epoch_ns = :epoch WHERE row = :row;
