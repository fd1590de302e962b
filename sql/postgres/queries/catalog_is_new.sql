SELECT NOT (SELECT is_called FROM recordings_row_seq);
