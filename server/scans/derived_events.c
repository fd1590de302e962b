/* See derived_events.h. The file, little-endian: magic, version and raw size (u32), the SHA-256 of all that follows,
 * the zstd frame of the events, each as start, end (i64), title, kind and tags (u32 size, bytes
 * that end with NUL). Raw size UINT32_MAX: there are too many of them, and the text that says so follows. */
#include "scans/derived_events.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/limits.h"
#include "base/source.h"
#include "chunks/codec.h"
#include "formats/carla/question.h"
#include "store/store.h"
#include "syntax/utf8.h"

static const char magic[4] = "REVT";
enum { HEAD = 12 + DIGEST_SHA256 };

enum { START, END, TITLE, KIND, COLUMNS = 11 };
/* The other columns are tags. */
static const char *const tag_names[COLUMNS] = {
    NULL, NULL, NULL, "kind", "actor", "type", "description", "other", "other_type", "other_description", "state"};

void derived_events_done(struct derived_events *events) {
    free(events->items);
    arena_free(&events->arena);
    *events = (struct derived_events){0};
}

bool derived_events_possible(const struct catalog_recording *r) {
    return strcmp(r->format, "carla") == 0;
}

/* ---- finding them */

struct finding {
    struct derived_events *out;
    const struct reel_progress *progress;
    struct reel_error *err;
    bool failed;
};

/* A text of the recording, which may hold any bytes: as UTF-8 up to a NUL. NULL: no memory. */
static char *text_of(struct reel_bytes text) {
    struct grow out = {0};
    utf8_put(&out, text);
    grow_u8(&out, '\0');
    if (out.failed) {
        free(out.data);
        return NULL;
    }
    return (char *)out.data;
}

static json_t *tag_of(const struct reel_cell *cell) {
    char number[24];
    if (cell->kind == REEL_CELL_TEXT) {
        AUTO_MEM char *text = text_of(cell->text);
        return text ? json_string(text) : NULL;
    }
    snprintf(number, sizeof number, "%lld", (long long)cell->integer);
    return json_string(number);
}

/* As a JSON text, malloc'd; NULL: no memory. */
static char *tags_of(const struct reel_cell *cells) {
    json_auto_t *tags = json_object();
    for (int i = KIND; i < COLUMNS; i++) {
        if (cells[i].kind != REEL_CELL_NULL && json_object_set_new(tags, tag_names[i], tag_of(&cells[i])) != 0) {
            return NULL;
        }
    }
    return json_dumps(tags, JSON_COMPACT);
}

static bool add(struct derived_events *out, struct derived_event event, struct reel_error *err) {
    if (out->n >= REEL_DERIVED_EVENTS_MAX) {
        return reel_fail(err, REEL_LIMIT, "the recording has more than %d events", REEL_DERIVED_EVENTS_MAX);
    }
    const char **const texts[] = {&event.title, &event.kind, &event.tags};
    out->arena.max = REEL_DERIVED_EVENTS_BYTES_MAX;
    for (int i = 0; i < 3; i++) {
        if (!*texts[i]) {
            return reel_fail_memory(err);
        }
        if (!(*texts[i] = arena_text(&out->arena, *texts[i]))) {
            return out->arena.no_memory
                       ? reel_fail_memory(err)
                       : reel_fail(err, REEL_LIMIT, "the texts of the recording's events have more than %d MiB",
                                   REEL_DERIVED_EVENTS_BYTES_MAX >> 20);
        }
    }
    if (!GROW_ARRAY(out->items, out->n, out->room)) {
        return reel_fail_memory(err);
    }
    out->items[out->n++] = event;
    return true;
}

static bool find_row(void *context, const struct reel_cell *cells, unsigned n) {
    struct finding *f = context;
    if (n != COLUMNS) {
        return false;
    }
    AUTO_MEM char *title = text_of(cells[TITLE].text);
    AUTO_MEM char *kind = text_of(cells[KIND].text);
    AUTO_MEM char *tags = tags_of(cells);
    const struct derived_event event = {
        .start_ns = cells[START].integer, .end_ns = cells[END].integer, .title = title, .kind = kind, .tags = tags};
    f->failed = !add(f->out, event, f->err);
    return !f->failed;
}
static bool find_columns(void *context, const char *const *names, unsigned n) {
    (void)context, (void)names;
    return n == COLUMNS;
}
static bool find_end(void *context) {
    (void)context;
    return true;
}

static int by_start(const void *a, const void *b) {
    const struct derived_event *x = a, *y = b;
    return x->start_ns != y->start_ns ? (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns)
                                      : strcmp(x->title, y->title);
}

/* Of a recording of no simulator there are none. */
static bool find(struct reel_recording *recording, const struct reel_progress *progress, struct derived_events *out,
                 struct reel_error *err) {
    struct reel_error why = {0};
    struct finding f = {.out = out, .progress = progress, .err = err};
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_MOMENTS);
    const struct reel_table table = {.columns = find_columns, .row = find_row, .end = find_end, .context = &f};
    AUTO(reel_carla_free) struct reel_carla *pass = reel_carla_open(recording, &q, NULL, &table, &why);
    bool good = pass || why.code == REEL_UNSUPPORTED;
    uint64_t steps = 0;
    for (bool done = !pass; good && !done;) {
        good = reel_carla_step(pass, &done, &why) &&
               (!progress || !progress->report || progress->report(progress->context, steps++, 0) ||
                reel_fail(&why, REEL_CANCELLED, "cancelled"));
    }
    if (out->n > 1) {
        qsort(out->items, out->n, sizeof *out->items, by_start);
    }
    return good || (!f.failed && reel_error_pass(err, &why));
}

/* ---- the file */

static void put_text(struct grow *out, const char *text) {
    size_t size = strlen(text) + 1;
    grow_u32(out, (uint32_t)size);
    grow_put(out, text, size);
}

static void put_head(struct grow *out, uint32_t raw_size) {
    grow_put(out, magic, sizeof magic);
    grow_u32(out, DERIVED_EVENTS_VERSION);
    grow_u32(out, raw_size);
    grow_take(out, DIGEST_SHA256);
}

static bool keep_file(struct app *app, const char *content, const struct grow *file, struct reel_error *err) {
    digest_of(DIGEST_SHA256, bytes_of(file->data + HEAD, file->size - HEAD), file->data + 12);
    return store_keep_small(app->store, content, STORE_EVENTS, file->data, file->size, err);
}

/* It would be found again at each question. */
static bool keep_limit(struct app *app, const char *content, const struct reel_error *limit, struct reel_error *err) {
    AUTO_STRUCT(grow_done) struct grow file = {0};
    put_head(&file, UINT32_MAX);
    grow_put(&file, limit->text, strlen(limit->text));
    return file.failed ? reel_fail_memory(err) : keep_file(app, content, &file, err);
}

static bool keep(struct app *app, const char *content, const struct derived_events *events, struct reel_error *err) {
    AUTO_STRUCT(grow_done) struct grow raw = {0};
    AUTO_STRUCT(grow_done) struct grow file = {0};
    for (size_t i = 0; i < events->n; i++) {
        const struct derived_event *e = &events->items[i];
        grow_u64(&raw, (uint64_t)e->start_ns);
        grow_u64(&raw, (uint64_t)e->end_ns);
        put_text(&raw, e->title);
        put_text(&raw, e->kind);
        put_text(&raw, e->tags);
    }
    if (raw.failed) {
        return reel_fail_memory(err);
    }
    if (raw.size > REEL_DERIVED_EVENTS_BYTES_MAX) {
        return reel_fail(err, REEL_LIMIT, "the texts of the recording's events have more than %d MiB",
                         REEL_DERIVED_EVENTS_BYTES_MAX >> 20);
    }
    put_head(&file, (uint32_t)raw.size);
    if (file.failed) {
        return reel_fail_memory(err);
    }
    return codec_encode(REEL_CODEC_ZSTD, raw.size > 0 ? raw.data : (const uint8_t *)"", raw.size, &file, err) &&
           keep_file(app, content, &file, err);
}

/* A text and its NUL. NULL: there is none, which sets c->failed. */
static const char *read_text(struct cursor *c) {
    struct reel_bytes text = cursor_string32(c);
    c->failed = c->failed || text.size == 0 || text.data[text.size - 1] != '\0';
    return c->failed ? NULL : (const char *)text.data;
}

static bool read_events(struct reel_bytes raw, struct derived_events *out, struct reel_error *err) {
    struct cursor c = cursor_of(raw);
    while (!cursor_done(&c)) {
        struct derived_event e = {.start_ns = (int64_t)cursor_u64le(&c)};
        e.end_ns = (int64_t)cursor_u64le(&c);
        e.title = read_text(&c);
        e.kind = read_text(&c);
        e.tags = read_text(&c);
        if (c.failed) {
            return reel_fail(err, REEL_CHANGED, "the file of events is damaged");
        }
        if (!add(out, e, err)) {
            return false;
        }
    }
    return true;
}

static bool read_file(struct reel_bytes file, struct derived_events *out, struct reel_error *err) {
    uint8_t sum[DIGEST_SHA256];
    bool known = file.size >= HEAD && memcmp(file.data, magic, sizeof magic) == 0 &&
                 load_u32le(file.data + 4) == DERIVED_EVENTS_VERSION;
    uint32_t size = known ? load_u32le(file.data + 8) : 0;
    if (known) {
        digest_of(DIGEST_SHA256, bytes_of(file.data + HEAD, file.size - HEAD), sum);
    }
    bool whole = known && memcmp(sum, file.data + 12, sizeof sum) == 0;
    if (whole && size == UINT32_MAX) {
        return reel_fail(err, REEL_LIMIT, "%.*s", (int)(file.size - HEAD), (const char *)file.data + HEAD);
    }
    if (!whole || size > REEL_DERIVED_EVENTS_BYTES_MAX) {
        return reel_fail(err, REEL_CHANGED, "the file of events is damaged, or of another version");
    }
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(file, "events", err);
    AUTO_MEM uint8_t *raw = malloc((size_t)size + 1);
    const struct reel_chunk chunk = {.codec = REEL_CODEC_ZSTD, .offset = HEAD, .stored = file.size - HEAD, .raw = size};
    if (!source || !raw) {
        return reel_fail_memory(err);
    }
    return codec_decode_chunk(&chunk, source, raw, NULL, err) && read_events(bytes_of(raw, size), out, err);
}

bool derived_events_open(struct app *app, const char *content, struct derived_events *out, struct reel_error *err) {
    char path[PATH_MAX];
    struct stat st;
    AUTO_FD int fd = store_open_file(app->store, content, STORE_EVENTS, false, path, sizeof path, err);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return fd < 0 ? false : reel_fail_errno(err, "the file of events cannot be read");
    }
    if (st.st_size > REEL_DERIVED_EVENTS_BYTES_MAX) {
        return reel_fail(err, REEL_CHANGED, "the file of events is damaged");
    }
    AUTO_MEM uint8_t *data = malloc((size_t)st.st_size + 1);
    if (!data) {
        return reel_fail_memory(err);
    }
    return pread(fd, data, (size_t)st.st_size, 0) == st.st_size
               ? read_file(bytes_of(data, (size_t)st.st_size), out, err)
               : reel_fail(err, REEL_CHANGED, "the file of events cannot be read");
}

bool derived_events_make(struct app *app, const char *content, struct reel_recording *recording,
                         const struct reel_progress *progress, struct derived_events *out, struct reel_error *err) {
    struct reel_error ignored = {0}; /* it is made again when it is asked for */
    struct reel_error why = {0}, limit = {0};
    bool found = find(recording, progress, out, &why);
    if (content[0] && found && !keep(app, content, out, &limit) && limit.code == REEL_LIMIT) {
        found = reel_error_pass(&why, &limit);
    }
    if (content[0] && !found && why.code == REEL_LIMIT) {
        keep_limit(app, content, &why, &ignored);
    }
    return found || reel_error_pass(err, &why);
}
