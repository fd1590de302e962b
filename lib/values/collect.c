/* See collect.h. */
#include "values/collect.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/limits.h"
#include "decode/decoder.h"
#include "decode/fields.h"
#include "stream/stream.h"
#include "syntax/visitor.h"

enum {
    BLOCK_MESSAGES = 1024,
    BLOCK_BYTES = 1 << 20,
    FIELD_BYTES = 2500, /* a block of a channel with many fields has at least so much payload for each, so that
                           statistics stay small */
    REPORT_EACH = 1024,
};

/* ---- the fields of one payload */

struct walk {
    struct reel_visitor visitor; /* must be the first member */
    struct collection *all;
    struct collected_channel *channel;
    uint32_t next; /* the field that is expected: most payloads have the same ones in the same order */
    uint32_t depth, skipped, length;
    uint32_t lengths[FIELD_DEPTH_MAX + 1];
    char path[FIELD_PATH_MAX];
    bool failed;
};

static struct walk *collect_self(struct reel_visitor *v) {
    return (struct walk *)v;
}

static struct collected_field *collect_add_field(struct walk *w) {
    struct collected_channel *c = w->channel;
    if (c->n_fields == REEL_STATISTICS_FIELDS_MAX || w->all->fields == REEL_STATISTICS_ALL_FIELDS_MAX) {
        c->truncated = true;
        return NULL;
    }
    char *copy = arena_alloc(&w->all->paths, w->length + 1);
    if (!copy) {
        c->truncated = true;
        w->failed = w->failed || w->all->paths.no_memory;
        return NULL;
    }
    memcpy(copy, w->path, w->length);
    struct reel_bytes path = bytes_of(copy, w->length);
    if (!GROW_ARRAY(c->fields, c->n_fields, c->cap_fields) ||
        !hash_table_set(&c->paths, hash_key_bytes(path), c->n_fields + 1, NULL)) {
        w->failed = true;
        return NULL;
    }
    w->all->fields++;
    c->fields[c->n_fields] = (struct collected_field){.path = path};
    return &c->fields[c->n_fields++];
}

/* The field of the current path. NULL: it is in a list, or there are too many fields. */
static struct collected_field *find_field(struct walk *w) {
    struct collected_channel *c = w->channel;
    if (w->skipped > 0 || w->length >= FIELD_PATH_MAX) {
        return NULL;
    }
    struct collected_field *f = w->next < c->n_fields ? &c->fields[w->next] : NULL;
    if (!f || f->path.size != w->length || memcmp(f->path.data, w->path, w->length) != 0) {
        uintptr_t at = hash_table_get(&c->paths, hash_key_bytes(bytes_of(w->path, w->length)));
        f = at ? &c->fields[at - 1] : c->truncated ? NULL : collect_add_field(w);
    }
    w->next = f ? (uint32_t)(f - c->fields) + 1 : w->next;
    return f;
}

static struct collected_field *find_new(struct walk *w) {
    struct collected_field *f = find_field(w);
    if (!f || f->seen == w->channel->messages) {
        return NULL;
    }
    f->seen = w->channel->messages;
    return f;
}

static bool collect_number(struct reel_visitor *v, double value, uint8_t flag) {
    struct collected_field *f = find_new(collect_self(v));
    if (!f) {
        return true;
    }
    f->flags |= flag;
    if (isnan(value)) {
        f->now.nans++;
    } else {
        const struct cell one = {.min = value, .max = value, .numbers = 1};
        cell_join(&f->now, &one);
    }
    return true;
}
static bool collect_on_real(struct reel_visitor *v, double value) {
    return collect_number(v, value, FIELD_NUMBERS);
}
static bool collect_on_boolean(struct reel_visitor *v, bool value) {
    return collect_number(v, value, FIELD_NUMBERS);
}
static bool collect_on_integer(struct reel_visitor *v, int64_t value) {
    return collect_number(v, (double)value, FIELD_NUMBERS);
}
static bool collect_on_natural(struct reel_visitor *v, uint64_t value) {
    return collect_number(v, (double)value, FIELD_NUMBERS);
}
static bool collect_on_real32(struct reel_visitor *v, float value) {
    return collect_number(v, (double)value, FIELD_NUMBERS);
}
static bool collect_on_text(struct reel_visitor *v, struct reel_bytes value) {
    struct collected_field *f = find_new(collect_self(v));
    (void)value;
    if (f) {
        f->now.has_texts = true;
    }
    return true;
}
/* Its parts can be asked for, too; they have no statistics. */
static bool on_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return collect_number(v, value_of_stamp(value), FIELD_TIMES | FIELD_OPAQUE);
}
static bool opaque(struct reel_visitor *v) {
    struct collected_field *f = find_new(collect_self(v));
    if (f) {
        f->flags |= FIELD_OPAQUE;
    }
    return true;
}
/* The value may be asked for by a longer path, too. */
static bool on_inside(struct reel_visitor *v, struct reel_bytes member) {
    struct collected_field *f = find_field(collect_self(v));
    (void)member;
    if (f) {
        f->flags |= FIELD_OPAQUE;
    }
    return true;
}
static bool collect_on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                               unsigned columns) {
    (void)type, (void)data, (void)columns;
    return opaque(v);
}
/* Takes the place of a value, so that a second one of the same path does not count. */
static bool on_nothing(struct reel_visitor *v) {
    find_new(collect_self(v));
    return true;
}
static bool collect_on_binary(struct reel_visitor *v, struct reel_bytes value) {
    (void)value;
    return on_nothing(v);
}

static bool on_begin_map(struct reel_visitor *v) {
    struct walk *w = collect_self(v);
    if (w->skipped > 0 || w->depth == FIELD_DEPTH_MAX) {
        w->skipped++;
        return true;
    }
    w->lengths[++w->depth] = w->length;
    return true;
}
static bool collect_on_end(struct reel_visitor *v) {
    struct walk *w = collect_self(v);
    if (w->skipped > 0) {
        w->skipped--;
    } else if (w->depth > 0) {
        w->length = w->lengths[w->depth--];
    }
    return true;
}
static bool on_begin_list(struct reel_visitor *v) {
    opaque(v);
    collect_self(v)->skipped++;
    return true;
}
static bool collect_on_key(struct reel_visitor *v, struct reel_bytes name) {
    struct walk *w = collect_self(v);
    if (w->skipped > 0) {
        return true;
    }
    uint32_t base = w->lengths[w->depth], dot = base > 0;
    if (base >= FIELD_PATH_MAX || name.size >= FIELD_PATH_MAX || base + dot + name.size >= FIELD_PATH_MAX) {
        w->length = FIELD_PATH_MAX;
        return true;
    }
    if (dot) {
        w->path[base] = '.';
    }
    if (name.size > 0) {
        memcpy(w->path + base + dot, name.data, name.size);
    }
    w->length = base + dot + (uint32_t)name.size;
    return true;
}
static const struct reel_visitor_ops ops = {.begin_map = on_begin_map,
                                            .key = collect_on_key,
                                            .end_map = collect_on_end,
                                            .begin_list = on_begin_list,
                                            .end_list = collect_on_end,
                                            .null = on_nothing,
                                            .boolean = collect_on_boolean,
                                            .integer = collect_on_integer,
                                            .natural = collect_on_natural,
                                            .real = collect_on_real,
                                            .real32 = collect_on_real32,
                                            .text = collect_on_text,
                                            .binary = collect_on_binary,
                                            .numbers = collect_on_numbers,
                                            .stamp = on_stamp,
                                            .inside = on_inside};

/* ---- blocks */

static size_t block_size(size_t cells) {
    return sizeof(struct collected_block) + cells * sizeof(struct cell);
}

static bool close_block(struct collection *all, struct collected_channel *c, struct reel_error *err) {
    while (c->cap_cells - c->n_cells < c->n_fields) {
        if (!GROW_ARRAY(c->cells, c->cap_cells, c->cap_cells)) {
            return reel_fail_memory(err);
        }
    }
    if (!GROW_ARRAY(c->blocks, c->n_blocks, c->cap_blocks)) {
        return reel_fail_memory(err);
    }
    c->now.cells = c->n_cells;
    c->now.n_cells = (uint32_t)c->n_fields;
    for (size_t i = 0; i < c->n_fields; i++) {
        c->cells[c->n_cells++] = c->fields[i].now;
        c->fields[i].now = (struct cell){0};
    }
    c->blocks[c->n_blocks++] = c->now;
    c->now = (struct collected_block){0};
    c->bytes = 0;
    all->held += block_size(c->n_fields);
    return true;
}

/* Makes one block of each two of a channel, in place: the cells of a block have at most as many fields as those of
 * both. */
static void join_pairs(struct collected_channel *c) {
    size_t n = 0, at = 0;
    for (size_t i = 0; i < c->n_blocks; i += 2) {
        struct collected_block a = c->blocks[i],
                               b = i + 1 < c->n_blocks ? c->blocks[i + 1] : (struct collected_block){0};
        uint32_t cells = a.n_cells > b.n_cells ? a.n_cells : b.n_cells;
        for (uint32_t k = 0; k < cells; k++) {
            struct cell cell = k < a.n_cells ? c->cells[a.cells + k] : (struct cell){0};
            if (k < b.n_cells) {
                cell_join(&cell, &c->cells[b.cells + k]);
            }
            c->cells[at + k] = cell;
        }
        c->blocks[n++] = (struct collected_block){.first = a.first,
                                                  .last_ns = b.messages ? b.last_ns : a.last_ns,
                                                  .messages = a.messages + b.messages,
                                                  .n_cells = cells,
                                                  .cells = at};
        at += cells;
    }
    c->n_blocks = n;
    c->n_cells = at;
}

static void collect_make_room(struct collection *all) {
    all->held = 0;
    for (uint32_t i = 0; i < all->stream->n_channels; i++) {
        struct collected_channel *c = &all->channels[i];
        join_pairs(c);
        all->held += c->n_blocks * sizeof *c->blocks + c->n_cells * sizeof *c->cells;
    }
    all->block_messages = all->block_messages > UINT32_MAX / 4 ? all->block_messages : all->block_messages * 2;
    all->block_bytes *= 2;
}

static bool collect_is_full(const struct collection *all, const struct collected_channel *c) {
    uint64_t bytes = (uint64_t)c->n_fields * FIELD_BYTES;
    return c->now.messages >= all->block_messages || c->bytes >= (bytes > all->block_bytes ? bytes : all->block_bytes);
}

/* ---- messages */

static bool collect_open_channel(struct collection *all, struct collected_channel *c, struct reel_error *err) {
    c->opened = true;
    c->truncated = all->opened == REEL_STATISTICS_CHANNELS_MAX;
    if (!c->truncated && !decoder_try(c->channel, &c->decoder, err)) {
        return false;
    }
    all->opened += c->decoder != NULL;
    return true;
}

static bool collect_decode(struct collection *all, struct collected_channel *c, const struct reel_message *m,
                           struct walk *w, struct reel_error *err) {
    struct reel_bytes payload;
    struct reel_error why = {0};
    if (m->size > REEL_DECODED_MAX || !c->decoder) {
        return true;
    }
    if (!reel_stream_payload(all->stream, m, &payload, &why)) {
        return reel_error_ignore(err, &why); /* damaged: it has no values */
    }
    w->channel = c;
    w->next = w->depth = w->skipped = w->length = 0;
    w->lengths[0] = 0;
    return decode_try(c->decoder, payload, &w->visitor, NULL, err) && (!w->failed || reel_fail_memory(err));
}

static bool collect_add_message(struct collection *all, const struct reel_message *m, struct walk *w,
                                struct reel_error *err) {
    struct collected_channel *c = &all->channels[m->channel];
    if (!c->opened && !collect_open_channel(all, c, err)) {
        return false;
    }
    if (!c->decoder && !c->truncated) {
        return true;
    }
    if (c->now.messages == 0) {
        c->now.first = pack_key_of(&m->entry);
    }
    c->messages++;
    c->now.messages++;
    c->now.last_ns = m->time_ns;
    c->bytes += m->size;
    if (!collect_decode(all, c, m, w, err) || (collect_is_full(all, c) && !close_block(all, c, err))) {
        return false;
    }
    if (all->held > REEL_STATISTICS_MAX) {
        collect_make_room(all);
    }
    return true;
}

static bool collect_read_messages(struct collection *all, uint64_t total, const struct reel_progress *progress,
                                  struct reel_error *err) {
    AUTO_MEM struct walk *w = calloc(1, sizeof *w);
    struct reel_message m;
    enum reel_step step = REEL_STEP_END;
    if (!w) {
        return reel_fail_memory(err);
    }
    w->visitor.ops = &ops;
    w->all = all;
    for (uint64_t done = 0; (step = stream_next(all->stream, &m, err)) == REEL_STEP_MESSAGE; done++) {
        if (!collect_add_message(all, &m, w, err)) {
            return false;
        }
        if (done % REPORT_EACH == 0 && progress && progress->report &&
            !progress->report(progress->context, done, total)) {
            return reel_fail(err, REEL_CANCELLED, "it was cancelled");
        }
    }
    return step == REEL_STEP_END;
}

bool collect(struct collection *all, struct reel_recording *recording, const struct reel_progress *progress,
             struct reel_error *err) {
    all->block_messages = BLOCK_MESSAGES;
    all->block_bytes = BLOCK_BYTES;
    all->paths.max = REEL_STATISTICS_PATHS_MAX;
    if (!(all->stream = reel_stream_open(&recording, 1, &selection_all, err))) {
        return false;
    }
    if (!(all->channels = calloc((size_t)all->stream->n_channels + 1, sizeof *all->channels))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < all->stream->n_channels; i++) {
        all->channels[i].channel = all->stream->channels[i];
    }
    if (!collect_read_messages(all, reel_index_info(reel_recording_index(recording))->messages, progress, err)) {
        return false;
    }
    for (uint32_t i = 0; i < all->stream->n_channels; i++) {
        struct collected_channel *c = &all->channels[i];
        if (c->now.messages > 0 && !close_block(all, c, err)) {
            return false;
        }
    }
    return true;
}

void collection_done(struct collection *all) {
    for (uint32_t i = 0; all->channels && i < all->stream->n_channels; i++) {
        struct collected_channel *c = &all->channels[i];
        reel_decoder_free(c->decoder);
        hash_table_free(&c->paths);
        free(c->fields);
        free(c->blocks);
        free(c->cells);
    }
    free(all->channels);
    arena_free(&all->paths);
    reel_stream_free(all->stream);
}
