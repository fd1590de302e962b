/* The recordings of one conversion. inputs.c finds them, convert.c replies with what they make together. */
#ifndef SERVER_API_EXPORT_INPUTS_H
#define SERVER_API_EXPORT_INPUTS_H

#include "api/recording.h"

struct inputs {
    struct api_recording *items;
    struct reel_recording **recordings; /* of the items */
    struct reel_source_option *sources; /* of a merge */
    const char **ids;
    uint32_t n;
    bool merged;
    const char *name;              /* of the export */
    const char *channels;          /* only these: struct api_export_file; NULL: all */
    enum reel_prefixing prefixing; /* of a merge, unless the request says otherwise */
};

void inputs_free(struct inputs *in); /* NULL is fine */
REEL_DEFINE_AUTO(struct inputs, inputs_free);

/* Those that the request names by recording=ID, opened. NULL: replied. */
struct inputs *inputs_named(struct http_request *r, const char *name);
/* The same as one, ordered by time: with the request's align, shift and prefix. NULL: replied. */
struct inputs *inputs_merged(struct http_request *r, const char *name);
/* The request's prefix, or the one that these have otherwise. */
enum reel_prefixing inputs_prefixing(const struct http_request *r, const struct inputs *in);
/* What the request's search finds and can be read, opened; the others are counted in X-Left-Out. NULL: replied. */
struct inputs *inputs_found(struct http_request *r, const char *name);
/* Replies with the conversion of them that the request asks for. */
void api_convert_inputs(struct http_request *r, struct inputs *in);

#endif
