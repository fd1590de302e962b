/* What a request for an export asks for: conversion_read.c reads it, convert.c replies, conversion_tag.c names its
 * bytes. */
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

/* Writer, selection and options of the request. False: replied. */
bool conversion_read(struct http_request *r, struct inputs *in, struct conversion *c);
void conversion_done(struct conversion *c); /* zeroed, or read, also in part */
/* What the selection puts in front, now that it is known whether it is a cut. */
void conversion_set_initial_state(struct conversion *c);

/* Sets the ETag, which is also the key of the plan. False: no memory. */
bool conversion_tag(struct conversion *c, uint32_t view_version);

#endif
