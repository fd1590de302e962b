-- dropped: changes that it will not hear of.
UPDATE webhooks SET seq = max(seq, :seq), dropped = dropped + :dropped WHERE row = :row;
