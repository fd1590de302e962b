/* What a client wishes for the file it sends, whichever way it says so: query, Upload-Metadata, the meta field of a form. Kept as JSON with
 * an upload session. */
#ifndef SERVER_WISHES_H
#define SERVER_WISHES_H

#include <jansson.h>

#include "catalog/notes.h"
#include "ingest/ingest.h"

enum { WISH_TEXT = 256, WISHES_JSON_MAX = 128 << 10 };

struct wishes {
    char collection[WISH_TEXT], name[WISH_TEXT], format[WISH_TEXT], part_of[WISH_TEXT], group[WISH_TEXT]; /* "" = not said */
    bool replace, keep;
    char sha256[65];          /* announced; "" = not */
    struct catalog_said said; /* tags and description */
};
void wishes_done(struct wishes *w);
static inline void reel_auto_wishes_done(struct wishes *w) {
    wishes_done(w);
}

/* Takes one wish by its name; `value` is a text, and for replace and keep also true or false, for tags an object of texts or the text of
 * one. A wish that has been taken already stays: who says it first is right. *known says whether there is such a wish. REEL_ARGUMENT. */
bool wishes_take(struct wishes *w, const char *key, const json_t *value, bool *known, struct reel_error *err);
bool wishes_load(struct wishes *w, const char *text, struct reel_error *err);
char *wishes_save(const struct wishes *w, struct reel_error *err); /* malloc'd */
/* Borrows the texts of `w`. A file without a collection goes to "default". */
struct ingest_request wishes_request(const struct wishes *w);

#endif
