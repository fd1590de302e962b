/* Internals of the ULog reader. scan.c: recognition, and the walk · messages.c: what each message adds · formats.c:
 * formats, their sizes and definitions · metadata.c: infos and parameters · resume.c: which messages are sound, and
 * where the walk goes on after damage · texts.c: texts and parameters as messages of ROS 1 · payload.c: values. */
#ifndef REEL_FORMATS_ULOG_CONTAINER_H
#define REEL_FORMATS_ULOG_CONTAINER_H

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "base/window.h"
#include "formats/ulog/layout.h"
#include "index/format.h"
#include "index/scan.h"

extern const struct reel_format reel_format_ulog;

enum {
    ULOG_FORMATS_MAX = 65536,
    ULOG_NESTED_MAX = 16,         /* formats in formats */
    ULOG_METADATA_MAX = 60000,    /* infos and parameters, below REEL_METADATA_MAX */
    ULOG_INFO_BYTES_MAX = 4 << 20 /* one multi info, joined */
};

struct ulog_message { /* valid until the window moves */
    uint64_t at, end;
    uint8_t type;
    struct reel_bytes data;
};

struct ulog_field {
    struct reel_bytes type, name;
    uint32_t count; /* 1: no array */
    bool is_array;
};

enum ulog_state { ULOG_NEW, ULOG_RESOLVING, ULOG_GOOD, ULOG_BAD };
struct ulog_format {
    struct reel_bytes name, fields;
    enum ulog_state state;
    const char *why;        /* of ULOG_BAD */
    unsigned depth;         /* of the formats in it: 0 = there are none */
    uint32_t size, shorter; /* shorter: without padding at its end, which may be left out */
    int32_t time, utc;      /* where the fields timestamp and time_utc_usec are; -1: nowhere */
    uint64_t used;          /* by the definition with this number */
};

struct ulog_topic { /* an instance of a format */
    struct ulog_format *format;
    uint32_t channel;
};

/* Oddities of one kind: counted, and reported once with the first position. */
struct ulog_count {
    uint64_t n, at;
};

struct ulog_fact { /* an info or a parameter */
    struct reel_bytes key, type, value;
    uint8_t group;
    uint64_t at;   /* where its value is; of a multi info that is continued, its first piece */
    uint32_t next; /* 1 + the piece that continues it */
    bool continues;
};

struct ulog {
    struct reel_scan *scan;
    struct reel_source *source;
    bool looking; /* for the time of day: nothing is reported */
    struct window window, peek;
    struct arena arena;
    uint64_t at, report_at, search_left;
    uint64_t appended[ULOG_APPENDED]; /* in order; 0: none */
    bool in_data;                     /* the definitions are over */

    struct hash_table format_names; /* to 1 + index */
    struct ulog_format **formats;
    size_t n_formats, cap_formats;
    uint64_t definitions;

    struct hash_table topic_names; /* to 1 + index */
    struct ulog_topic *topics;
    size_t n_topics, cap_topics;
    uint32_t *ids; /* of subscriptions, to 1 + topic */
    size_t n_ids;

    struct hash_table fact_keys; /* to 1 + index */
    struct ulog_fact *facts;
    size_t n_facts, cap_facts;
    uint32_t last_fact; /* 1 + the last piece of a multi info */

    uint32_t rows;              /* the chunk of texts and parameters; 0: none yet */
    uint32_t texts, parameters; /* 1 + channel */
    uint32_t dropouts;

    bool has_time;
    uint64_t recent_us, far_us; /* the last time, and a later one that is far from those before it */
    int64_t utc_ns;             /* of the time 0; valid if has_utc */
    bool has_utc;
    uint64_t messages, dropout_ms;
    struct ulog_count orphans, unknown, misfits, odd_times, dropped, no_time, lost_facts;
};

static inline void ulog_count(struct ulog_count *c, uint64_t at) {
    c->at = c->n++ == 0 ? at : c->at;
}
static inline uint32_t ulog_topic_of(const struct ulog *u, uint16_t id) { /* 0: no subscription */
    return id < u->n_ids ? u->ids[id] : 0;
}
static inline bool ulog_is_padding(struct reel_bytes name) {
    return bytes_start(name, bytes_text(ULOG_PADDING));
}

/* --- formats.c --- */
uint32_t ulog_type_size(struct reel_bytes type); /* of a basic type; 0: it is none */
/* Takes the next field off `rest`. False: there is none; *bad: it is none. */
bool ulog_field_next(struct reel_bytes *rest, struct ulog_field *field, bool *bad);
/* "type name", "type[3] name". */
bool ulog_field_read(struct reel_bytes text, struct ulog_field *field);
bool ulog_format_read(struct reel_bytes data, struct reel_bytes *name, struct reel_bytes *fields);
bool ulog_format_add(struct ulog *u, const struct ulog_message *m, struct reel_error *err);
struct ulog_format *ulog_format_find(const struct ulog *u, struct reel_bytes name); /* NULL: not there */
/* Computes the sizes: true for ULOG_GOOD. */
bool ulog_format_resolve(struct ulog *u, struct ulog_format *f);
/* A definition in the language of ROS 1, with the formats that it needs. */
bool ulog_definition(struct ulog *u, struct ulog_format *f, struct grow *out);
void ulog_ros_name(struct reel_bytes name, struct grow *out); /* "ulog/name", with letters that ROS allows */

/* --- messages.c --- */
bool ulog_take(struct ulog *u, const struct ulog_message *m, struct reel_error *err);

/* --- metadata.c --- */
/* An info, multi info, parameter or default without what stands before the size of its key. */
bool ulog_fact_read(struct reel_bytes data, struct ulog_field *key, struct reel_bytes *value);
bool ulog_fact_add(struct ulog *u, const struct ulog_message *m, struct reel_error *err);
bool ulog_report_facts(struct ulog *u, struct reel_error *err);

/* --- resume.c --- */
/* The message at `at`, with its data. False: I/O. *fits false: it is cut off by the end of the file or by appended
 * data. */
bool ulog_read(struct ulog *u, struct window *w, uint64_t at, struct ulog_message *m, bool *fits,
               struct reel_error *err);
/* Does the content match the type? `known`: D messages need a subscription. */
bool ulog_is_sound(const struct ulog *u, const struct ulog_message *m, bool known);
/* Moves u->at behind damage, or behind a message that is not understood, and reports it. */
bool ulog_resume(struct ulog *u, const struct ulog_message *m, bool fits, struct reel_error *err);
bool ulog_progress(struct ulog *u, uint64_t at, struct reel_error *err);
uint64_t ulog_section_end(const struct ulog *u, uint64_t at); /* of the file, or where the next appended data begin */

/* --- texts.c --- */
extern const char ulog_text_definition[], ulog_parameter_definition[];
/* The payload for a message L, C or P. */
void ulog_row_make(uint8_t type, struct reel_bytes data, struct grow *out);
struct reel_source *ulog_open_rows(struct reel_source *base, bool damaged, struct reel_error *err);

#endif
