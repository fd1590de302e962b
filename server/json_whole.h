/* JSON that is kept or read back: jansson goes on when memory has run out, and json_dumps() gives a text that lacks the
 * name of a member (base/heap.h). */
#ifndef SERVER_JSON_WHOLE_H
#define SERVER_JSON_WHOLE_H

#include <jansson.h>

#include "base/heap.h"
#include "reel/error.h"

/* As json_dumps(): NULL also when the text is not whole. */
static inline char *json_whole_text(const json_t *json, size_t flags) {
    uint64_t failures = heap_failures();
    char *text = json_dumps(json, flags);
    if (heap_failures() != failures) {
        heap_free(text);
        text = NULL;
    }
    return text;
}

/* An object that was kept as text. NULL with err: REEL_NO_MEMORY, or REEL_DAMAGED with these words. */
static inline json_t *json_whole_object(const char *text, const char *words, struct reel_error *err) {
    uint64_t failures = heap_failures();
    json_t *json = json_loads(text, 0, NULL);
    if (json_is_object(json)) {
        return json;
    }
    json_decref(json);
    (void)(heap_failures() != failures ? reel_fail_memory(err) : reel_fail(err, REEL_DAMAGED, "%s", words));
    return NULL;
}

#endif
