-- scan: state_totals: five rows, one a state
SELECT state, recordings, bytes, messages FROM state_totals;
