-- Nothing when the webhook has been deleted meanwhile.
INSERT INTO webhook_results (webhook, seq, time_ns, took_ms, status, problem)
SELECT row, :seq, :now, :took, :status, :problem FROM webhooks WHERE row = :row;
