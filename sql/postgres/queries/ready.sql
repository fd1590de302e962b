SELECT version FROM catalog_state;
