/* What uploads have put into the bucket: objects, the ends of uploads that may go on (incoming/), and parts of objects
 * that are not complete. Names are 32 hex digits that nobody else chooses. */
#ifndef SERVER_STORE_BUCKET_SENT_H
#define SERVER_STORE_BUCKET_SENT_H

#include "store/store.h"

enum store_sent_kind { SENT_OBJECT, SENT_END, SENT_PARTS };
struct store_sent {
    enum store_sent_kind kind;
    const char *name;
    const char *upload; /* SENT_PARTS: the id that S3 gave it */
    uint64_t bytes;     /* 0: parts */
    int64_t at_s;       /* written, or begun; seconds since 1970 */
};
/* With `objects` also those that are complete. Stops when visit() is false. */
bool store_each_sent(struct store *store, bool objects, bool (*visit)(void *context, const struct store_sent *sent),
                     void *context, struct reel_error *err);
bool store_remove_sent(struct store *store, const struct store_sent *sent, struct reel_error *err);

/* The location of every object that a manifest names, those in lost+found included; NULL: there is a manifest that
 * names objects and cannot be read. */
bool store_each_named(struct store *store, bool (*visit)(void *context, const char *location), void *context,
                      struct reel_error *err);

#endif
