/* Topics and their channels. A topic has several where programs of different callerids wrote it, where some messages
 * could not be decoded and are bytes among values, and where its type changes from some row on. */
#include "formats/rows/container.h"

#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"

enum { CHANNELS_MAX = 256 }; /* of one topic; messages of further ones belong to the newest */

void rows_channels_done(struct rows_scan *s) {
    hash_table_free(&s->topics);
    arena_free(&s->model);
}

static struct rows_topic *rows_channels_topic_named(struct rows_scan *s, const char *name, struct reel_error *err) {
    struct rows_topic *t = (struct rows_topic *)hash_table_get(&s->topics, hash_key_bytes(bytes_text(name)));
    if (t) {
        return t;
    }
    if (!(t = arena_alloc(&s->model, sizeof *t)) || !(t->name = arena_text(&s->model, name))) {
        arena_fail(&s->model, err);
        return NULL;
    }
    t->next = s->first;
    s->first = t;
    return hash_table_set(&s->topics, hash_key_bytes(bytes_text(t->name)), (uintptr_t)t, err) ? t : NULL;
}

/* Copies what is kept of `from` after it was reported. */
static bool rows_channels_keep(struct rows_scan *s, struct rows_channel *c, const struct reel_channel *from,
                               struct reel_error *err) {
    struct arena *a = &s->model;
    struct reel_schema *schemas =
        from->n_schemas ? arena_copy(a, from->schemas, from->n_schemas * sizeof *schemas) : NULL;
    const char **topics = from->n_topics ? arena_alloc(a, from->n_topics * sizeof *topics) : NULL;
    c->model = *from;
    c->capacity = from->metadata.count;
    c->model.schemas = schemas;
    c->model.topics = topics;
    c->model.metadata.items = arena_copy(a, from->metadata.items, from->metadata.count * sizeof *from->metadata.items);
    bool good = (c->model.name = arena_text(a, from->name)) && (c->model.type = arena_text(a, from->type)) &&
                (c->model.encoding = arena_text(a, from->encoding)) &&
                (c->model.metadata.items || from->metadata.count == 0);
    for (uint32_t i = 0; good && schemas && i < from->n_schemas; i++) {
        struct reel_schema *schema = &schemas[i];
        good = (schema->name = arena_text(a, schema->name)) && (schema->encoding = arena_text(a, schema->encoding)) &&
               (schema->hash = arena_text(a, schema->hash)) &&
               (schema->data.size == 0 || (schema->data.data = arena_copy(a, schema->data.data, schema->data.size)));
    }
    for (uint32_t i = 0; good && topics && i < from->n_topics; i++) {
        good = (topics[i] = arena_text(a, from->topics[i]));
    }
    for (size_t i = 0; good && i < from->metadata.count; i++) {
        struct reel_pair *pair = &c->model.metadata.items[i];
        good = (pair->key = arena_text(a, pair->key)) && (pair->value = arena_text(a, pair->value));
    }
    return (good && (schemas || from->n_schemas == 0) && (topics || from->n_topics == 0)) || arena_fail(a, err);
}

static const char *callerid_of(const struct reel_channel *c) {
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (strcmp(c->metadata.items[i].key, ROWS_CALLERID_KEY) == 0) {
            return c->metadata.items[i].value;
        }
    }
    return NULL;
}

static struct rows_channel *rows_add_channel(struct rows_scan *s, struct rows_topic *t, const struct reel_channel *from,
                                             struct reel_error *err) {
    struct rows_channel *c = arena_alloc(&s->model, sizeof *c);
    if (!c) {
        arena_fail(&s->model, err);
        return NULL;
    }
    if (!rows_channels_keep(s, c, from, err) || !reel_scan_channel(s->scan, &c->model, &c->id, err)) {
        return NULL;
    }
    c->callerid = callerid_of(&c->model);
    c->next = t->channels;
    t->channels = t->last = c;
    return c;
}

static bool rows_fits(const struct rows_channel *c, const char *encoding, const char *callerid) {
    return strcmp(c->model.encoding, encoding) == 0 &&
           (!callerid || (c->callerid && strcmp(c->callerid, callerid) == 0));
}

/* The newest channel of the encoding, and of the caller if the row names one. *n: how many channels were seen. */
static struct rows_channel *rows_channels_find(const struct rows_topic *t, const char *encoding, const char *callerid,
                                               unsigned *n) {
    struct rows_channel *c = t->channels;
    for (*n = 0; c && *n < CHANNELS_MAX && !rows_fits(c, encoding, callerid); (*n)++) {
        c = c->next;
    }
    return *n < CHANNELS_MAX ? c : NULL;
}

static bool rows_same_schema(const struct reel_channel *a, const struct reel_channel *b) {
    bool same = a->n_schemas == b->n_schemas;
    for (uint32_t i = 0; same && i < a->n_schemas; i++) {
        same =
            bytes_equal(a->schemas[i].data, b->schemas[i].data) && strcmp(a->schemas[i].hash, b->schemas[i].hash) == 0;
    }
    return same;
}

bool rows_define(struct rows_scan *s, const struct row *row, struct reel_error *err) {
    struct rows_topic *t = rows_channels_topic_named(s, row->topic, err);
    unsigned n;
    if (!t) {
        return false;
    }
    const struct rows_channel *c = rows_channels_find(t, row->channel->encoding, callerid_of(row->channel), &n);
    if (c && strcmp(c->model.type, row->channel->type) == 0 && rows_same_schema(&c->model, row->channel)) {
        t->last = NULL;
        return true; /* repeated */
    }
    return rows_add_channel(s, t, row->channel, err);
}

/* Bytes without a word on their encoding are those of the channel that was defined. */
static const char *rows_encoding_of(const struct rows_scan *s, const struct rows_topic *t, const struct row *row) {
    return !row->is_bytes     ? s->medium
           : row->encoding[0] ? row->encoding
           : t->channels      ? t->channels->model.encoding
                              : "";
}

struct rows_channel *rows_channel_of(struct rows_scan *s, const struct row *row, struct reel_error *err) {
    struct rows_topic *t = rows_channels_topic_named(s, row->topic, err);
    unsigned n;
    if (!t) {
        return NULL;
    }
    const char *encoding = rows_encoding_of(s, t, row);
    if (t->last && rows_fits(t->last, encoding, row->callerid)) {
        return t->last;
    }
    struct rows_channel *c = rows_channels_find(t, encoding, row->callerid, &n);
    if (!c && n == CHANNELS_MAX) {
        c = t->channels;
    }
    if (c) {
        t->last = c;
        return c;
    }
    struct reel_pair callerid = {ROWS_CALLERID_KEY, row->callerid};
    const struct reel_channel made = {.name = row->topic,
                                      .type = t->channels ? t->channels->model.type : "",
                                      .encoding = encoding,
                                      .metadata = {&callerid, row->callerid != NULL}};
    return rows_add_channel(s, t, &made, err);
}

uint32_t rows_frame(struct rows_scan *s, struct rows_channel *c, const char *frame_id) {
    struct reel_pairs *metadata = &c->model.metadata;
    if (!frame_id) {
        return 0;
    }
    for (size_t i = 0; i < metadata->count; i++) {
        if (strcmp(metadata->items[i].value, frame_id) == 0) {
            return (uint32_t)i + 1;
        }
    }
    if (metadata->count >= REEL_ROW_METADATA_MAX) {
        return 0;
    }
    if (metadata->count == c->capacity) {
        struct reel_pair *items = arena_alloc(&s->model, (REEL_ROW_METADATA_MAX + 1) * sizeof *items);
        if (!items) {
            return 0;
        }
        if (metadata->count > 0) {
            memcpy(items, metadata->items, metadata->count * sizeof *items);
        }
        metadata->items = items;
        c->capacity = REEL_ROW_METADATA_MAX;
    }
    const char *text = arena_text(&s->model, frame_id);
    if (!text) {
        return 0;
    }
    metadata->items[metadata->count++] = (struct reel_pair){ROWS_FRAME_KEY, text};
    c->changed = true;
    return (uint32_t)metadata->count;
}

bool rows_finish_channels(struct rows_scan *s, struct reel_error *err) {
    for (const struct rows_topic *t = s->first; t; t = t->next) {
        for (const struct rows_channel *c = t->channels; c; c = c->next) {
            if (c->changed && !reel_scan_channel_update(s->scan, c->id, &c->model, err)) {
                return false;
            }
        }
    }
    return true;
}
