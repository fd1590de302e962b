/* One file to a server, however often the way there breaks. */
#ifndef SERVER_PUSH_FILE_H
#define SERVER_PUSH_FILE_H

#include <stdatomic.h>

#include "cli/push_http.h"

struct push_wishes {
    const char *api; /* http://…/api/v1 */
    const char *collection, *group;
    const char *const *tags; /* "key=value", NULL-terminated; may be NULL */
    bool replace;
    unsigned retries; /* in a row without a byte getting through */
};

struct push_file {
    const char *path, *name;
    const char *part_of; /* NULL: a recording of its own */
    char text[256];      /* filled in: what became of it */
    bool was_there;
};
/* `sent` grows by the bytes that the server has or has had. */
bool push_file(struct push_http *http, const struct push_wishes *options, struct push_file *file, _Atomic uint64_t *sent,
               struct reel_error *err);

#endif
