-- dropped: changes that are not delivered to it.
UPDATE webhooks SET seq = max(seq, :seq), dropped = dropped + :dropped WHERE row = :row;
