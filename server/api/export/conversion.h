/* What a request for an export asks for: convert.c reads it and replies, conversion_tag.c names its bytes. */
#ifndef SERVER_API_EXPORT_CONVERSION_H
#define SERVER_API_EXPORT_CONVERSION_H

#include "api/export/inputs.h"
#include "api/selection.h"
#include "convert/split.h"
#include "convert/writer.h"
#include "definitions/rules.h"

enum { NAME_ROOM = 1024 };

struct conversion {
    struct inputs *in;
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct api_selection q;
    struct api_text text;
    struct message_rules *rules;     /* NULL: none */
    const char **renames;            /* with theirs */
    struct reel_write_values values; /* of options */
    const char *split;               /* NULL: one file */
    struct reel_split_rule rule;
    char target[NAME_ROOM]; /* the name, without the ".tar" of an archive of parts */
    char folder[NAME_ROOM]; /* and without its extension */
    char etag[64];
};

/* Sets the ETag, which is also the key of the plan. False: no memory. */
bool conversion_tag(struct conversion *c, uint32_t view_version);

#endif
