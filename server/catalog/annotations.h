/* Annotations of a recording: tags, description, custom fields, epoch. They belong to the recording's id; scans do not
 * change them. */
#ifndef SERVER_CATALOG_ANNOTATIONS_H
#define SERVER_CATALOG_ANNOTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"
#include "reel/model.h"

enum {                /* sizes in bytes */
       TAGS_MAX = 64, /* of a recording, or an event */
       TAG_KEY_MAX = 64,
       TAG_VALUE_MAX = 256,
       DESCRIPTION_MAX = 64 << 10,
       CUSTOM_MAX = 64 << 10,
       NOTES_MAX = 1000, /* of a recording */
       NOTE_TEXT_MAX = 16 << 10,
       EVENTS_MAX = 10000, /* of a recording */
       EVENT_TITLE_MAX = 1024,
       COLLECTION_DESCRIPTION_MAX = 16 << 10,
       PAGE_ITEMS_MAX = 1000,
       TAG_BATCH_MAX = 10000,          /* recordings */
       LIST_DESCRIPTION_MAX = 1 << 10, /* what a list shows of each; the recording itself has the whole */
       LIST_CUSTOM_MAX = 4 << 10,
};

struct catalog_tag {
    char *key, *value;
};

/* Zeroed: no annotations. Texts belong to the struct. */
struct catalog_annotations {
    struct catalog_tag *tags; /* by key */
    uint32_t n_tags;
    char *description; /* NULL or "": none */
    char *custom;      /* a JSON object, compact; NULL or "": {} */
    bool has_epoch;
    int64_t epoch_ns; /* where zero of a relative clock lies on the calendar */
    bool has_clock;
    enum reel_clock clock;            /* that a user set in place of the one that a scan found */
    uint64_t notes, events;           /* how many */
    bool cut_description, cut_custom; /* shortened, in a list */
};
void catalog_annotations_done(struct catalog_annotations *annotations);
bool catalog_annotations_copy(const struct catalog_annotations *from, struct catalog_annotations *to); /* false: no
                                                                                                          memory, *to is
                                                                                                          empty */
/* What a new revision inherits: tags whose key it does not have, description and custom fields where it has none. */
bool catalog_annotations_inherit(struct catalog_annotations *to, const struct catalog_annotations *from,
                                 struct reel_error *err);
bool catalog_annotations_set_tag(struct catalog_annotations *annotations, const char *key, const char *value,
                                 struct reel_error *err); /* copies; the last one of a key counts */
/* NULL: has none */
const char *catalog_annotations_tag(const struct catalog_annotations *annotations, const char *key);

const char *clock_name(enum reel_clock clock); /* "wall", "relative" */
bool clock_named(const char *name, enum reel_clock *out);

/* Key of [A-Za-z0-9_.:-], value of UTF-8 without control characters, both within their ceilings. REEL_ARGUMENT. */
bool catalog_tag_check(const char *key, const char *value, struct reel_error *err);
bool catalog_text_check(const char *what, const char *text, size_t bytes_max, struct reel_error *err);
/* Replaces the tags of *to by copies; false: no memory, some are NULL. */
bool annotations_copy_tags(const struct catalog_annotations *from, struct catalog_annotations *to);
/* Shortens the texts to what a list shows and marks them as cut. */
void annotations_shorten(struct catalog_annotations *annotations);

#endif
