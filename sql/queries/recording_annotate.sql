UPDATE recordings SET description = :description, custom = :custom, epoch_ns = :epoch_ns WHERE row = :row;
