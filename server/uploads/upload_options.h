/* Upload options: sent with a file in the query, in Upload-Metadata or in the meta field of a form. Stored as JSON with
 * an upload session. */
#ifndef SERVER_UPLOADS_UPLOAD_OPTIONS_H
#define SERVER_UPLOADS_UPLOAD_OPTIONS_H

#include <jansson.h>

#include "catalog/notes.h"
#include "recordings/ingest.h"

enum { UPLOAD_OPTION_TEXT = 256, UPLOAD_OPTIONS_JSON_MAX = 128 << 10 };

struct upload_options {
    char collection[UPLOAD_OPTION_TEXT], name[UPLOAD_OPTION_TEXT], format[UPLOAD_OPTION_TEXT],
        part_of[UPLOAD_OPTION_TEXT], group[UPLOAD_OPTION_TEXT], file_name[UPLOAD_OPTION_TEXT]; /* "" = not given */
    bool replace, keep;
    bool absent;                            /* ingest_request.absent; of this request alone, no option by name */
    char sha256[65];                        /* announced; "" = not */
    struct catalog_annotations annotations; /* tags and description */
};
void upload_options_done(struct upload_options *w);

/* Sets an option by name; `value` is a text, for replace and keep also true or false, for tags an object of texts or
 * the text of one. The first value set wins. *known: whether there is such an option. REEL_ARGUMENT. */
bool upload_options_set(struct upload_options *w, const char *key, const json_t *value, bool *known,
                        struct reel_error *err);
bool upload_options_parse(struct upload_options *w, const char *text, struct reel_error *err);
char *upload_options_print(const struct upload_options *w, struct reel_error *err); /* malloc'd */
/* Borrows the texts of `w`. A file without a collection goes to "default". */
struct ingest_request upload_options_request(const struct upload_options *w);

#endif
