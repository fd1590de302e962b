-- scan: webhooks: a few dozen at most (WEBHOOKS_MAX)
SELECT count(*) FROM webhooks;
