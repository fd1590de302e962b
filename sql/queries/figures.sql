-- scan: figures: five rows, one a state
SELECT state, recordings, bytes, messages FROM figures;
