SELECT row, url, events, collections, secret, created_ns, seq, tries, next_ns, delivered, dropped FROM webhooks WHERE row > :row ORDER BY row LIMIT :limit;
