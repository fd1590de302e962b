/* Shared by views.c and topics.c. */
#ifndef SERVER_VIEWS_VIEWS_INTERNAL_H
#define SERVER_VIEWS_VIEWS_INTERNAL_H

#include "views/views.h"

/* Sets members one by one; one failure (no memory) fails the document. */
struct object {
    json_t *json;
    bool failed;
};
struct object views_object(void);
void views_put(struct object *o, const char *key, json_t *value);
json_t *views_end(struct object *o); /* the document, or NULL */

/* Appends; on failure frees the array and returns NULL. */
json_t *views_append(json_t *array, json_t *value);
/* The members of these names, and the same with "_ns"; null without messages. */
void views_put_span(struct object *o, const char *first, const char *last, bool any, int64_t first_ns, int64_t last_ns,
                    enum reel_clock clock);
/* A summary does not have the size of the messages, unless there are none. */
json_t *views_known_bytes(uint64_t bytes, uint64_t messages, bool is_summary);

#endif
