/* Changes of recordings and their annotations, tags in use, notes, events, collections, manifests that are due. Every
 * change increases the recording's updated_ns, which serves as its version. */
#ifndef SERVER_CATALOG_NOTES_H
#define SERVER_CATALOG_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "catalog/annotations.h"
#include "reel/cleanup.h"
#include "reel/error.h"

struct catalog;

/* ---- changing a recording (change.c) */

struct catalog_change {
    bool has_version;
    int64_t version;               /* its updated_ns must be this: else REEL_CHANGED */
    const char *absent_tag;        /* it must not have this tag: else REEL_CHANGED; NULL: none */
    const char *collection, *name; /* NULL: as it is. The revision counts on from what has that name; REEL_CONFLICT when
                                      it is taken */
    const char *description;       /* NULL: as it is */
    const char *custom;            /* a JSON merge patch (RFC 7396) for it; "null" empties it; NULL: as it is */
    bool sets_epoch, has_epoch;    /* sets_epoch and not has_epoch: takes it away. REEL_CONFLICT for a recording of the
                                      wall clock */
    int64_t epoch_ns;
    bool sets_clock, has_clock;     /* sets_clock and not has_clock: it is again the one that the scan found */
    enum reel_clock clock;          /* from now on … */
    const char *clock_note;         /* … and why */
    bool clears_tags;               /* all; before `tags` */
    const struct catalog_tag *tags; /* value NULL: takes the tag away */
    uint32_t n_tags;
};
/* All of it or nothing, in one transaction. Nothing happens, and the version stays, when there is nothing to change. */
bool catalog_change(struct catalog *c, const char *id, const struct catalog_change *change, bool *changed,
                    struct reel_error *err);

/* The same tags for many recordings, in one transaction; what is not there is passed over. REEL_LIMIT: more than
 * TAG_BATCH_MAX. */
struct catalog_tag_batch {
    const int64_t *rows;
    uint32_t n_rows;
    const struct catalog_tag *tags; /* value NULL: takes the tag away */
    uint32_t n_tags;
    uint32_t changed; /* filled in: how many were not so already */
};
bool catalog_tag_many(struct catalog *c, struct catalog_tag_batch *batch, struct reel_error *err);

/* ---- tags in use (tags.c) */

struct catalog_count {
    char *name;
    uint64_t recordings; /* outside of the trash */
};
struct catalog_counts {
    struct catalog_count *items;
    uint32_t n;
    bool more; /* continue with after = the last name */
};
void catalog_counts_done(struct catalog_counts *counts);
/* Keys, or the values of one key, in order; those that begin with `prefix` (NULL: all) and come after `after` (NULL:
 * from the first). */
bool catalog_tag_keys(struct catalog *c, const char *prefix, const char *after, uint32_t limit,
                      struct catalog_counts *out, struct reel_error *err);
bool catalog_tag_values(struct catalog *c, const char *key, const char *prefix, const char *after, uint32_t limit,
                        struct catalog_counts *out, struct reel_error *err);

/* ---- notes (notes.c) */

struct catalog_note {
    int64_t row;
    char id[33];
    char *author, *text;
    int64_t created_ns, updated_ns;
};
void catalog_note_done(struct catalog_note *note);
struct catalog_notes {
    struct catalog_note *items;
    uint32_t n;
    bool more; /* continue with after = the last row */
};
void catalog_notes_done(struct catalog_notes *notes);
/* `id`: of the recording. Fills row, and id, created_ns and updated_ns unless they are set. REEL_LIMIT. */
bool catalog_note_add(struct catalog *c, const char *id, struct catalog_note *note, struct reel_error *err);
bool catalog_note_change(struct catalog *c, const char *id, const char *note, const char *text,
                         struct catalog_note *out, struct reel_error *err);
bool catalog_note_remove(struct catalog *c, const char *id, const char *note, struct reel_error *err);
bool catalog_notes_list(struct catalog *c, const char *id, int64_t after, uint32_t limit, struct catalog_notes *out,
                        struct reel_error *err);

/* ---- events (events.c) */

struct catalog_event {
    int64_t row;
    char id[33];
    char recording[33];       /* its id */
    char *collection, *name;  /* of the recording */
    bool relative;            /* the recording's clock */
    int64_t start_ns, end_ns; /* of the recording's own clock; end is the first instant that is out, or start: an
                                 instant */
    bool on_calendar;
    int64_t wall_start_ns, wall_end_ns;
    char *title, *author;
    char *tags; /* a JSON object of texts, compact; NULL or "": {} */
    int64_t created_ns, updated_ns;
};
void catalog_event_done(struct catalog_event *event);
struct catalog_events {
    struct catalog_event *items;
    uint32_t n;
    char *next; /* cursor; NULL on the last page */
};
void catalog_events_done(struct catalog_events *events);
/* `id`: of the recording; fills the rest like catalog_note_add(). */
bool catalog_event_add(struct catalog *c, const char *id, struct catalog_event *event, struct reel_error *err);
bool catalog_event_get(struct catalog *c, const char *event, struct catalog_event *out, struct reel_error *err);
struct catalog_event_change {
    int64_t version; /* its updated_ns must be this, or CATALOG_ANY_VERSION: else REEL_CHANGED */
    bool has_start, has_end;
    int64_t start_ns, end_ns;
    const char *title; /* NULL: as it is */
    const char *tags;  /* a JSON merge patch; NULL: as they are */
};
bool catalog_event_change(struct catalog *c, const char *event, const struct catalog_event_change *change,
                          struct catalog_event *out, struct reel_error *err);
bool catalog_event_remove(struct catalog *c, const char *event, int64_t version, struct reel_error *err);
/* Words that an event has in its title or tags, in any case of ASCII. */
enum { EVENT_WORDS_MAX = 16 };
struct event_words {
    char *text; /* of the words; malloc'd */
    char *items[EVENT_WORDS_MAX];
    unsigned n;
};
/* REEL_LIMIT: there are more. */
bool event_words_read(const char *q, struct event_words *out, struct reel_error *err);
void event_words_done(struct event_words *words);
bool event_words_in(const struct event_words *words, const char *title, const char *tags);

struct catalog_event_query {
    const char *recording;   /* id: its own events by its own times, also in the trash; NULL: of all recordings by the
                                calendar, none of the trash */
    bool has_start, has_end; /* those that touch [start_ns, end_ns) of that clock */
    int64_t start_ns, end_ns;
    uint32_t limit;
    const char *cursor;
    bool (*sees)(const void *context, const char *collection); /* NULL: all */
    const void *context;
    struct event_words words;
};
/* A page may end before it is full, so that rare words do not read all events at once: `next` says whether there are
 * more. */
bool catalog_events_list(struct catalog *c, const struct catalog_event_query *q, struct catalog_events *out,
                         struct reel_error *err);

/* ---- collections (collections.c) */

struct catalog_collection {
    char *name, *description;
    uint64_t recordings, bytes, messages, duration_ms; /* outside of the trash */
    bool on_calendar;                                  /* some of it is */
    int64_t first_ns, last_ns;
};
void catalog_collection_done(struct catalog_collection *collection);
struct catalog_collections {
    struct catalog_collection *items;
    uint32_t n;
    bool more; /* continue with after = the last name */
};
void catalog_collections_done(struct catalog_collections *collections);
bool catalog_collections_list(struct catalog *c, const char *after, uint32_t limit, struct catalog_collections *out,
                              struct reel_error *err);
bool catalog_collection_get(struct catalog *c, const char *name, struct catalog_collection *out,
                            struct reel_error *err); /* REEL_NOT_FOUND */
/* When its newest recording came, which need not be the last row; 0: it has none outside of the trash. */
bool catalog_collection_newest(struct catalog *c, const char *name, int64_t *ns, struct reel_error *err);
bool catalog_collection_describe(struct catalog *c, const char *name, const char *description,
                                 struct reel_error *err); /* the same */
/* Its description and its name, which NULL leaves as they are: both change, or neither. The name in one transaction
 * with all that names it: rules, quotas, tokens and webhooks. REEL_NOT_FOUND; REEL_CONFLICT: `to` is taken. */
bool catalog_collection_change(struct catalog *c, const char *name, const char *description, const char *to,
                               struct reel_error *err);
/* Every description, {"name": "text"}, for the manifest of collections. malloc'd. */
char *catalog_collection_descriptions(struct catalog *c, struct reel_error *err);

/* ---- manifests (manifests/manifests.c writes them) */

/* The next recording after row *after whose manifest is older than its row; *after moves on to it. REEL_NOT_FOUND at
 * the end.
 */
bool catalog_manifest_due(struct catalog *c, int64_t *after, char id[33], struct reel_error *err);
struct catalog_written {
    char id[33];
    int64_t updated_ns; /* of the row that was written */
};
/* No longer due, except those that have changed since. */
bool catalog_manifests_written(struct catalog *c, const struct catalog_written *written, uint32_t n,
                               struct reel_error *err);

#endif
