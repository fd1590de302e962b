/* The catalog: recordings, their channels and states, in SQLite or PostgreSQL (db.h). Every function may be
 * called from any thread; writers take turns, readers use a pool of connections. No statement stays open when a
 * function returns. */
#ifndef SERVER_CATALOG_CATALOG_H
#define SERVER_CATALOG_CATALOG_H

#include <stdint.h>

#include "base/digest.h"
#include "catalog/annotations.h"
#include "index/index.h"

struct catalog;

enum recording_state {
    STATE_SCANNING,
    STATE_READY,
    STATE_FAILED,
    STATE_MISSING,
    STATE_TRASHED,
    STATE_CHANGED,
    STATE_RECORDING,
    STATE_ANNOUNCED
};
const char *recording_state_name(enum recording_state state);
bool recording_state_parse(const char *name, enum recording_state *out);

enum { RECORDING_ID_TEXT = 33 };

struct catalog_part { /* one stored file */
    char sha256[SHA256_HEX];
    uint64_t size;
    const char *file_name; /* as uploaded */
};

/* A recording as the catalog has it. Texts belong to the struct; free with catalog_recording_done(). */
struct catalog_recording {
    int64_t row;                /* internal */
    char id[RECORDING_ID_TEXT]; /* opaque, never reused: 32 hex digits */
    char *collection, *name;
    uint32_t revision; /* 1 … ; the newest is the one a name means */
    enum recording_state state;
    enum recording_state state_before_trash;
    char content[SHA256_HEX]; /* names index pack and manifest: the part's SHA-256, or for several parts that of their
                                 hashes */
    struct catalog_part *parts;
    uint32_t n_parts;
    uint64_t size;            /* of all parts */
    char *format, *container; /* "" while unknown */
    enum reel_clock clock;
    char *clock_note;
    int64_t start_ns, end_ns; /* meaningful when messages > 0 */
    uint64_t messages, payload_bytes;
    uint32_t n_channels;
    bool damaged;
    uint64_t findings, lost_bytes;
    char *problem;                  /* why it failed; "" otherwise */
    char *group;                    /* recordings that were split and belong together; "": none */
    char *announced;                /* catalog/announced.h; "": it is not */
    char *home;                     /* the server that has its file while it grows, among several; "": none */
    int64_t created_ns, updated_ns; /* updated_ns grows with every change: it is the row's version */
    struct catalog_annotations annotations;
};
/* When its times are on the calendar, by its clock or its epoch: true, and where. Sums saturate. */
bool catalog_on_calendar(const struct catalog_recording *r, int64_t own_ns, int64_t *ns);
void catalog_recording_done(struct catalog_recording *r); /* empties; fine on a zeroed one */

/* Opens or creates `path`. REEL_UNSUPPORTED: another version, or other tables than this program's. */
struct catalog *catalog_open(const char *path, struct reel_error *err);
/* The same; an older version is upgraded, which is reported on standard error. Only while no other process uses a file:
 * a server that runs on it would not notice. */
struct catalog *catalog_open_upgrading(const char *path, struct reel_error *err);
void catalog_close(struct catalog *catalog);

bool catalog_make_id(char out[RECORDING_ID_TEXT], struct reel_error *err); /* random, for a manifest that is written
                                                                              before the row */

/* Fills revision and row, and id and created_ns unless they are set. One small transaction: recording, parts, channels
 * (from index, may be NULL), FTS. Fails with REEL_CONFLICT when (collection, name) is taken by other content and
 * !replace. */
bool catalog_add(struct catalog *c, struct catalog_recording *r, const struct reel_index *index, bool replace,
                 struct reel_error *err);
/* The same, with the job that scans it (catalog/jobs.h) in the same transaction; NULL: none. */
struct catalog_job;
bool catalog_add_scanning(struct catalog *c, struct catalog_recording *r, const struct reel_index *index, bool replace,
                          struct catalog_job *job, struct reel_error *err);
/* Replaces what a scan found (state, times, channels, damage …) of the recording r->id. */
bool catalog_update_scan(struct catalog *c, const struct catalog_recording *r, const struct reel_index *index,
                         struct reel_error *err);
/* The same for a recording that has become another content of other parts (r->content, r->parts, r->size). `job`: as
 * above. */
bool catalog_set_parts(struct catalog *c, const struct catalog_recording *r, const struct reel_index *index,
                       struct catalog_job *job, struct reel_error *err);
bool catalog_set_state(struct catalog *c, const char *id, enum recording_state state, const char *problem,
                       struct reel_error *err);
bool catalog_trash(struct catalog *c, const char *id, struct reel_error *err);
bool catalog_restore(struct catalog *c, const char *id, struct reel_error *err);
/* The same, if the recording's updated_ns is still `version`: REEL_CHANGED. */
#define CATALOG_ANY_VERSION INT64_MIN
#define CATALOG_ABSENT INT64_C(0) /* where a version is expected: there is none yet */
bool catalog_trash_at(struct catalog *c, const char *id, int64_t version, struct reel_error *err);
/* The row goes; the caller sweeps blobs without a recording. */
bool catalog_purge_at(struct catalog *c, const char *id, int64_t version, struct reel_error *err);

/* `key`: an id, "sha256:<hex>" (newest recording of that content), or "name:collection/name". REEL_NOT_FOUND. */
bool catalog_get(struct catalog *c, const char *key, struct catalog_recording *out, struct reel_error *err);
/* The answer that was made of the recording of this key, with these definitions (own_definitions_version()), and kept:
 * malloc'd, NULL when there is none of its row as it is now. */
char *catalog_answer(struct catalog *c, const char *key, const struct catalog_recording *row, uint32_t definitions);
void catalog_keep_answer(struct catalog *c, const char *key, const struct catalog_recording *row, uint32_t definitions,
                         const char *text);
const char *catalog_not_found(const char *key); /* the message of catalog_get() for an unknown key */
bool catalog_get_named(struct catalog *c, const char *collection, const char *name, struct catalog_recording *out,
                       struct reel_error *err); /* newest revision, not trashed */
bool catalog_content_used(struct catalog *c, const char *content, bool *used, struct reel_error *err);
bool catalog_blob_used(struct catalog *c, const char *sha256, bool *used, struct reel_error *err);
bool catalog_upload_has(struct catalog *c, const char *sha256, bool *has, struct reel_error *err); /* one that is about
                                                                                                      to end */

struct catalog_range {
    bool has_min, has_max;
    int64_t min, max; /* both are in */
};
struct catalog_query { /* all that is set must hold */
    const char *words; /* q=, in the grammar of catalog/search.h; NULL = any */
    const char *format, *collection;
    const char *const *allowed; /* globs of the collections that the caller may see, NULL-terminated; NULL: all */
    const char *group;          /* only those of this group */
    const char *const *topics, *const *types; /* globs; each must be matched by some channel, or, with match_any, one of
                                                 them */
    uint32_t n_topics, n_types;
    const char *const *topic_patterns, *const *type_patterns; /* regular expressions, the same */
    uint32_t n_topic_patterns, n_type_patterns;
    bool match_any;
    const char *const *tags; /* "key=value", the value may be a glob; or "key" */
    uint32_t n_tags;
    struct catalog_range size, duration, messages, created;
    bool has_start, has_end; /* overlap with [start_ns, end_ns) ; only clock wall recordings have times to compare */
    int64_t start_ns, end_ns;
    bool has_state;
    enum recording_state state; /* without it: all but trashed */
    bool damaged_only;
    const char *sort; /* "-created" (default), "name", "start", "end", "size", "messages", "duration"; '-' = descending;
                         the id breaks ties */
    uint32_t limit;   /* 1 … 1000 */
    const char *cursor; /* opaque, from the page before; NULL = first page */
    uint64_t offset;    /* skips rows; a cursor is cheaper */
    bool count;         /* also fill total */
};
struct catalog_page {
    struct catalog_recording *items;
    uint32_t n_items;
    char *next;        /* cursor, NULL on the last page */
    uint64_t total;    /* with query.count */
    bool total_capped; /* there are more than that */
};
bool catalog_list(struct catalog *c, const struct catalog_query *q, struct catalog_page *out,
                  struct reel_error *err); /* REEL_ARGUMENT: bad sort or cursor */
void catalog_page_done(struct catalog_page *page);
/* Whether there are so many recordings that lists of them are better prepared. */
bool catalog_lists_are_long(struct catalog *c);
/* Makes in memory what long lists of each sort are read from, or brings it up to date. */
bool catalog_lists_prepare(struct catalog *c, struct reel_error *err);

/* Every recording that is not purged, in no order, for start-up checks; stops when visit() is false. */
bool catalog_each(struct catalog *c, bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                  struct reel_error *err);

/* The same for those whose row is greater, in that order. */
bool catalog_each_after(struct catalog *c, int64_t row, bool (*visit)(void *context, const struct catalog_recording *r),
                        void *context, struct reel_error *err);

bool catalog_each_in_state(struct catalog *c, enum recording_state state,
                           bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                           struct reel_error *err);

struct catalog_statistics {
    uint64_t recordings[STATE_ANNOUNCED + 1];
    uint64_t bytes, messages;
};
bool catalog_statistics(struct catalog *c, struct catalog_statistics *out, struct reel_error *err);
bool catalog_ready(struct catalog *c); /* a trivial query answers */

#endif
