SELECT commits FROM catalog_state;
