DELETE FROM audit WHERE row <= :row;
