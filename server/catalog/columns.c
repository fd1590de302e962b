/* See columns.h. */
#include "catalog/columns.h"
#include "base/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(member) offsetof(struct catalog_recording, member), sizeof((struct catalog_recording){0}.member)
#define NO_MEMBER 0, 0

enum { ALWAYS = COLUMN_ON_INSERT | COLUMN_ON_SCAN };

const struct column recording_columns[] = {
    {"row", COLUMN_I64, MEMBER(row), 0, "created"}, /* rows are in the order of creation */
    {"id", COLUMN_HEX, MEMBER(id), COLUMN_ON_INSERT, NULL},
    {"collection", COLUMN_TEXT, MEMBER(collection), COLUMN_ON_INSERT, NULL},
    {"name", COLUMN_TEXT, MEMBER(name), COLUMN_ON_INSERT, "name"},
    {"revision", COLUMN_U32, MEMBER(revision), 0, NULL},
    {"state", COLUMN_STATE, MEMBER(state), 0, NULL},
    {"state_before_trash", COLUMN_STATE, MEMBER(state_before_trash), 0, NULL},
    {"content", COLUMN_HEX, MEMBER(content), COLUMN_ON_INSERT, NULL},
    {"size", COLUMN_U64, MEMBER(size), COLUMN_ON_INSERT, "size"},
    {"format", COLUMN_TEXT, MEMBER(format), ALWAYS, NULL},
    {"container", COLUMN_TEXT, MEMBER(container), ALWAYS, NULL},
    {"clock", COLUMN_CLOCK, MEMBER(clock), ALWAYS, NULL},
    {"clock_note", COLUMN_TEXT, MEMBER(clock_note), ALWAYS, NULL},
    {"start_ns", COLUMN_TIME, MEMBER(start_ns), ALWAYS, NULL},
    {"end_ns", COLUMN_TIME, MEMBER(end_ns), ALWAYS, NULL},
    {"calendar_start_ns", COLUMN_COMPUTED, NO_MEMBER, 0, "start"},
    {"calendar_end_ns", COLUMN_COMPUTED, NO_MEMBER, 0, "end"},
    {"duration_ns", COLUMN_DURATION, NO_MEMBER, ALWAYS, "duration"},
    {"messages", COLUMN_U64, MEMBER(messages), ALWAYS, "messages"},
    {"payload_bytes", COLUMN_U64, MEMBER(payload_bytes), ALWAYS, NULL},
    {"channels", COLUMN_U32, MEMBER(n_channels), ALWAYS, NULL},
    {"damaged", COLUMN_BOOL, MEMBER(damaged), ALWAYS, NULL},
    {"findings", COLUMN_U64, MEMBER(findings), ALWAYS, NULL},
    {"lost_bytes", COLUMN_U64, MEMBER(lost_bytes), ALWAYS, NULL},
    {"problem", COLUMN_TEXT, MEMBER(problem), ALWAYS, NULL},
    {"group_name", COLUMN_TEXT, MEMBER(group), COLUMN_ON_INSERT, NULL},
    {"announced", COLUMN_TEXT, MEMBER(announced), COLUMN_ON_INSERT, NULL},
    {"home", COLUMN_TEXT, MEMBER(home), COLUMN_ON_INSERT, NULL},
    {"created_ns", COLUMN_I64, MEMBER(created_ns), 0, NULL},
    {"updated_ns", COLUMN_I64, MEMBER(updated_ns), 0, NULL},
    {"epoch_ns", COLUMN_EPOCH, MEMBER(annotations.epoch_ns), COLUMN_ON_INSERT, NULL},
    {"set_clock", COLUMN_SET_CLOCK, MEMBER(annotations.clock), COLUMN_ON_INSERT, NULL},
    {"notes", COLUMN_U64, MEMBER(annotations.notes), 0, NULL},
    {"events", COLUMN_U64, MEMBER(annotations.events), 0, NULL},
    {"description", COLUMN_TEXT, MEMBER(annotations.description), COLUMN_ON_INSERT, NULL},
    {"custom", COLUMN_TEXT, MEMBER(annotations.custom), COLUMN_ON_INSERT, NULL},
    {0},
};

static bool columns_is_read(const struct column *c) {
    return c->kind != COLUMN_DURATION && c->kind != COLUMN_COMPUTED;
}

/* ---- the statements */

static const struct list_kind {
    const char *placeholder;
    unsigned written; /* of those written at that time; 0: of those that are read */
    const char *before, *between;
} lists[] = {{"{columns}", 0, "", NULL},
             {"{inserted}", COLUMN_ON_INSERT, "", NULL},
             {"{:inserted}", COLUMN_ON_INSERT, ":", NULL},
             {"{scanned}", COLUMN_ON_SCAN, "", " = :"}};

static void columns_put_list(FILE *out, const struct list_kind *kind) {
    const char *comma = "";
    for (const struct column *c = recording_columns; c->name; c++) {
        if (kind->written ? (c->written & kind->written) != 0 : columns_is_read(c)) {
            fprintf(out, "%s%s%s%s%s", comma, kind->before, c->name, kind->between ? kind->between : "",
                    kind->between ? c->name : "");
            comma = ", ";
        }
    }
}

/* The text behind the placeholder at `sql`; NULL: there is none. */
static const char *put_placeholder(FILE *out, const char *sql, const struct columns_array arrays[COLUMNS_ARRAYS]) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t size = strlen(lists[i].placeholder);
        if (strncmp(sql, lists[i].placeholder, size) == 0) {
            columns_put_list(out, &lists[i]);
            return sql + size;
        }
    }
    for (size_t i = 0; i < COLUMNS_ARRAYS; i++) {
        size_t size = strlen(arrays[i].placeholder);
        const char *end = strncmp(sql, arrays[i].placeholder, size) == 0 ? strchr(sql, '}') : NULL;
        if (end) {
            fprintf(out, "%s%.*s%s", arrays[i].before, (int)(end - sql - (ptrdiff_t)size), sql + size, arrays[i].after);
            return end + 1;
        }
    }
    return NULL;
}

char *columns_expand(const char *sql, const struct columns_array arrays[COLUMNS_ARRAYS]) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    while (*sql) {
        const char *brace = strchrnul(sql, '{');
        fwrite(sql, 1, (size_t)(brace - sql), out);
        const char *after = *brace ? put_placeholder(out, brace, arrays) : brace;
        if (!after) {
            fputc(*brace, out);
            after = brace + 1;
        }
        sql = after;
    }
    return text_stream_close(out, &text) ? text : NULL;
}

/* ---- values */

static bool columns_read_value(struct db_statement *s, int at, const struct column *c, struct catalog_recording *r) {
    void *member = (char *)r + c->offset;
    switch (c->kind) {
    case COLUMN_TEXT:
        return (*(char **)member = strdup(db_text(s, at))) != NULL;
    case COLUMN_HEX:
        db_hex(s, at, member, c->size);
        break;
    case COLUMN_U64:
        *(uint64_t *)member = db_size(s, at);
        break;
    case COLUMN_U32:
        *(uint32_t *)member = (uint32_t)db_int(s, at);
        break;
    case COLUMN_BOOL:
        *(bool *)member = db_int(s, at) != 0;
        break;
    case COLUMN_STATE:
        *(enum recording_state *)member = (enum recording_state)db_int(s, at);
        break;
    case COLUMN_CLOCK:
        *(enum reel_clock *)member = (enum reel_clock)db_int(s, at);
        break;
    case COLUMN_EPOCH:
        r->annotations.has_epoch = !db_is_null(s, at);
        r->annotations.epoch_ns = db_int(s, at);
        break;
    case COLUMN_SET_CLOCK:
        r->annotations.has_clock = !db_is_null(s, at);
        r->annotations.clock = (enum reel_clock)db_int(s, at);
        break;
    default:
        *(int64_t *)member = db_int(s, at);
    }
    return true;
}

bool columns_read(struct db_statement *s, struct catalog_recording *out) {
    bool good = true;
    int at = 0;
    for (const struct column *c = recording_columns; c->name; c++) {
        if (columns_is_read(c)) {
            good = columns_read_value(s, at++, c, out) && good;
        }
    }
    return good;
}

static int64_t duration(const struct catalog_recording *r) {
    int64_t ns;
    if (r->messages == 0 || r->end_ns < r->start_ns) {
        return 0;
    }
    return __builtin_sub_overflow(r->end_ns, r->start_ns, &ns) ? INT64_MAX : ns;
}

static int64_t columns_number(const struct column *c, const struct catalog_recording *r) {
    const void *member = (const char *)r + c->offset;
    switch (c->kind) {
    case COLUMN_U32:
        return *(const uint32_t *)member;
    case COLUMN_BOOL:
        return *(const bool *)member;
    case COLUMN_STATE:
        return *(const enum recording_state *)member;
    case COLUMN_CLOCK:
    case COLUMN_SET_CLOCK:
        return *(const enum reel_clock *)member == REEL_CLOCK_RELATIVE;
    case COLUMN_TIME:
        return r->messages > 0 ? *(const int64_t *)member : 0;
    case COLUMN_DURATION:
        return duration(r);
    default:
        return *(const int64_t *)member;
    }
}

void columns_bind(struct db_statement *s, const struct catalog_recording *r) {
    for (const struct column *c = recording_columns; c->name; c++) {
        char name[32];
        const void *member = (const char *)r + c->offset;
        snprintf(name, sizeof name, ":%s", c->name);
        if (c->kind == COLUMN_TEXT) {
            db_set_text(s, name, *(char *const *)member);
        } else if (c->kind == COLUMN_HEX) {
            db_set_hex(s, name, member);
        } else if (c->kind == COLUMN_U64) {
            db_set_size(s, name, *(const uint64_t *)member);
        } else if (c->kind != COLUMN_COMPUTED && (c->kind != COLUMN_EPOCH || r->annotations.has_epoch) &&
                   (c->kind != COLUMN_SET_CLOCK || r->annotations.has_clock)) { /* else NULL */
            db_set_int(s, name, columns_number(c, r));
        }
    }
}

bool columns_copy_texts(struct catalog_recording *r) {
    bool good = true;
    for (const struct column *c = recording_columns; c->name; c++) {
        if (c->kind == COLUMN_TEXT) {
            char **text = (char **)((char *)r + c->offset);
            good = (!*text || (*text = strdup(*text))) && good;
        }
    }
    return good;
}

void columns_free_texts(struct catalog_recording *r) {
    for (const struct column *c = recording_columns; c->name; c++) {
        if (c->kind == COLUMN_TEXT) {
            char **text = (char **)((char *)r + c->offset);
            free(*text);
            *text = NULL;
        }
    }
}

size_t columns_texts_size(const struct catalog_recording *r) {
    size_t size = 0;
    for (const struct column *c = recording_columns; c->name; c++) {
        const char *text = c->kind == COLUMN_TEXT ? *(char *const *)((const char *)r + c->offset) : NULL;
        size += text ? strlen(text) + 1 : 0;
    }
    return size;
}
