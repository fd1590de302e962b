/* CHAN, TYPE and META blocks, and the table of channels. The first block with an id or a hash is used; later ones that
 * contradict it are reported. */
#include "formats/tide/container.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"

#include <stdio.h>

/* ---- the table ---- */

struct tide_channel *tide_find(const struct tide *t, uint32_t id) {
    uintptr_t number = hash_table_get(&t->by_id, hash_key_number(id));
    return number > 0 ? &t->channels[number - 1] : NULL;
}

static struct tide_channel *tide_add_channel(struct tide *t, const struct tide_fields *f, struct reel_error *err) {
    if (!GROW_ARRAY(t->channels, t->n_channels, t->cap_channels)) {
        reel_fail_memory(err);
        return NULL;
    }
    struct tide_channel *c = &t->channels[t->n_channels];
    *c = (struct tide_channel){.fields = *f};
    return hash_table_set(&t->by_id, hash_key_number(f->id), ++t->n_channels, err) ? c : NULL;
}

/* ---- blocks ---- */

static struct reel_bytes text8(struct cursor *c) {
    uint8_t size = cursor_u8(c);
    return cursor_bytes(c, size);
}
static struct reel_bytes text16(struct cursor *c) {
    uint16_t size = cursor_u16le(c);
    return cursor_bytes(c, size);
}

/* Reads `count` strings with u16 lengths. NULL with c->failed unset: no memory. */
static const struct reel_bytes *texts16(struct tide *t, struct cursor *c, uint32_t count) {
    if (count > cursor_left(c) / 2) {
        c->failed = true;
        count = 0;
    }
    struct reel_bytes *texts = arena_alloc(&t->arena, (count + 1) * sizeof *texts);
    for (uint32_t i = 0; texts && i < count; i++) {
        texts[i] = text16(c);
    }
    return texts;
}

static void lost_block(struct tide *t, const struct tide_block *b, const char *why) {
    tide_lost(t, b->at, b->end - b->at, "block %.4s at %llu: %s", (const char *)b->name, (unsigned long long)b->at,
              why);
}

static bool same_hashes(const struct tide_fields *a, const struct tide_fields *b) {
    for (uint32_t i = 0; i < a->n_hashes && a->n_hashes == b->n_hashes; i++) {
        if (!bytes_equal(a->hashes[i], b->hashes[i])) {
            return false;
        }
    }
    return a->n_hashes == b->n_hashes;
}

static bool same_fields(const struct tide_fields *a, const struct tide_fields *b) {
    return bytes_equal(a->name, b->name) && bytes_equal(a->type, b->type) && bytes_equal(a->source, b->source) &&
           bytes_equal(a->config, b->config) && bytes_equal(a->format, b->format) && same_hashes(a, b);
}

static bool tide_read_channel(struct tide *t, const struct tide_block *b, struct cursor c, struct reel_error *err) {
    struct tide_fields f = {.id = cursor_u32le(&c)};
    f.name = text8(&c);
    f.type = t->is_new ? bytes_of("", 0) : cursor_string32(&c);
    f.source = cursor_string32(&c);
    f.config = cursor_string32(&c);
    f.format = t->is_new ? bytes_of("", 0) : cursor_string32(&c);
    f.n_hashes = t->is_new ? cursor_u8(&c) : 0;
    if (!(f.hashes = texts16(t, &c, f.n_hashes))) {
        return tide_no_room(t, err);
    }
    if (c.failed || f.type.size > REEL_TEXT_MAX || f.format.size > REEL_SCHEMA_MAX) {
        lost_block(t, b, c.failed ? "its fields exceed it" : "its type or format is too large");
        return true;
    }
    if (!cursor_done(&c)) {
        tide_oddity(&t->beyond, b->at);
    }
    struct tide_channel *known = tide_find(t, f.id);
    if (known) {
        if (!known->again && !same_fields(&known->fields, &f)) {
            known->again = true;
            reel_scan_finding(t->scan, REEL_WARNING, 0, b->at, 0,
                              "block CHAN at %llu: contradicts an earlier block CHAN of channel %u",
                              (unsigned long long)b->at, f.id);
        }
        return true;
    }
    if (t->n_channels + TIDE_RECONSTRUCTED_MAX >= REEL_CHANNELS_MAX) {
        lost_block(t, b, "there are too many channels");
        return true;
    }
    known = tide_add_channel(t, &f, err);
    if (known) {
        known->described = true;
        known->at = b->at;
    }
    return known != NULL;
}

static bool tide_read_type(struct tide *t, const struct tide_block *b, struct cursor c, struct reel_error *err) {
    struct tide_type type = {.at = b->at, .body = bytes_of(c.at, cursor_left(&c))};
    type.hash = text16(&c);
    type.syntax = text8(&c);
    type.name = text16(&c);
    type.version = text16(&c);
    type.definition = cursor_string32(&c);
    type.n_sources = cursor_u8(&c);
    type.sources = texts16(t, &c, type.n_sources);
    type.n_needs = cursor_u16le(&c);
    type.needs = type.sources ? texts16(t, &c, type.n_needs) : NULL;
    if (!type.needs) {
        return tide_no_room(t, err);
    }
    if (c.failed || type.definition.size > REEL_SCHEMA_MAX) {
        lost_block(t, b, c.failed ? "its fields exceed it" : "the definition is too large");
        return true;
    }
    if (!cursor_done(&c)) {
        tide_oddity(&t->beyond, b->at);
    }
    if (!GROW_ARRAY(t->types, t->n_types, t->cap_types)) {
        return reel_fail_memory(err);
    }
    t->types[t->n_types++] = type;
    return true;
}

static bool read_metadata(struct tide *t, const struct tide_block *b, struct cursor c, struct reel_error *err) {
    for (uint32_t left = cursor_u16le(&c); left > 0 && !c.failed; left--) {
        struct reel_bytes key = text16(&c), value = cursor_string32(&c);
        if (c.failed) {
            break;
        }
        if (t->pairs == REEL_METADATA_MAX || value.size > REEL_SCHEMA_MAX) {
            lost_block(t, b, "too much metadata");
            return true;
        }
        const char *name = reel_scan_text(t->scan, key, err);
        if (name && !tide_keep_value(&t->arena, &name, &value)) {
            return tide_no_room(t, err);
        }
        if (!name || !reel_scan_metadata(t->scan, name, value, err)) {
            return false;
        }
        t->pairs++;
    }
    if (c.failed) {
        lost_block(t, b, "its fields exceed it");
    } else if (!cursor_done(&c)) {
        tide_oddity(&t->beyond, b->at);
    }
    return true;
}

bool tide_read_description(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    uint64_t body = b->at + TIDE_BLOCK_HEAD, size = b->end - body;
    if (b->cut || size > TIDE_DESCRIPTION_MAX) {
        lost_block(t, b, b->cut ? "it is truncated" : "it is too large");
        return true;
    }
    struct reel_bytes content = {.data = arena_alloc(&t->arena, (size_t)size + 1), .size = (size_t)size};
    if (!content.data) {
        return tide_no_room(t, err);
    }
    if (!reel_source_read(t->source, body, (uint8_t *)(uintptr_t)content.data, content.size, err)) {
        return false;
    }
    struct cursor c = cursor_of(content);
    return b->tag == TIDE_CHAN   ? tide_read_channel(t, b, c, err)
           : b->tag == TIDE_TYPE ? tide_read_type(t, b, c, err)
                                 : read_metadata(t, b, c, err);
}

/* ---- channels for the builder ---- */

static bool report_channel(struct tide *t, struct tide_channel *c, struct tide_types *types, bool *relative,
                           struct reel_error *err) {
    struct reel_channel model;
    /* of one channel: definitions that are put together again would add up */
    struct arena arena = {.max = t->arena.max};
    bool is_new = t->is_new && c->described; /* a placeholder has a type string, as in the old layout */
    bool good = (tide_channel_model(&arena, is_new, &c->fields, types, &model, relative) || arena_fail(&arena, err)) &&
                reel_scan_channel(t->scan, &model, &c->model, err);
    arena_free(&arena);
    return good;
}

static int tide_compare_names(const void *a, const void *b) {
    const struct reel_bytes *x = a, *y = b;
    size_t size = x->size < y->size ? x->size : y->size;
    int order = size > 0 ? memcmp(x->data, y->data, size) : 0;
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static bool report_shared_names(struct tide *t, struct reel_error *err) {
    AUTO_MEM struct reel_bytes *names = malloc((t->n_channels + 1) * sizeof *names);
    if (!names) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < t->n_channels; i++) {
        names[i] = t->channels[i].fields.name;
    }
    qsort(names, t->n_channels, sizeof *names, tide_compare_names);
    for (size_t i = 1; i < t->n_channels; i++) {
        if (bytes_equal(names[i - 1], names[i]) && (i < 2 || !bytes_equal(names[i - 2], names[i]))) {
            const char *name = arena_utf8(&t->arena, names[i]);
            reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0, "several channels are named %s",
                              name ? name : "the same");
        }
    }
    return true;
}

bool tide_report_channels(struct tide *t, struct reel_error *err) {
    if (t->n_types > 0) {
        qsort(t->types, t->n_types, sizeof *t->types, tide_type_compare);
    }
    uint64_t others = 0;
    for (size_t i = 1; i < t->n_types; i++) {
        const struct tide_type *a = &t->types[i - 1], *b = &t->types[i];
        others += bytes_equal(a->hash, b->hash) &&
                  (!bytes_equal(a->definition, b->definition) || !bytes_equal(a->syntax, b->syntax));
    }
    if (others > 0) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0,
                          "%llu blocks TYPE contradict another block TYPE with the same hash",
                          (unsigned long long)others);
    }
    AUTO_MEM bool *used = calloc(t->n_types + 1, sizeof *used);
    if (!used) {
        return reel_fail_memory(err);
    }
    struct tide_types types = {.items = t->types, .count = t->n_types, .lookups_left = TIDE_LOOKUPS_MAX, .used = used};
    size_t relative = 0;
    for (size_t i = 0; i < t->n_channels; i++) {
        bool one = false;
        if (!report_channel(t, &t->channels[i], &types, &one, err)) {
            return false;
        }
        relative += one;
    }
    t->relative = relative > 0 && relative == t->n_channels;
    if (t->relative) {
        reel_scan_clock(t->scan, REEL_CLOCK_RELATIVE, "according to the source configs of the channels");
    }
    if (types.cut > 0) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0, "%u channels refer to more types than are read", types.cut);
    }
    return tide_report_types(t, &types, err) && report_shared_names(t, err);
}

bool tide_channel_of(struct tide *t, uint32_t id, uint64_t at, struct tide_channel **out, struct reel_error *err) {
    *out = tide_find(t, id);
    if (*out || t->n_reconstructed == TIDE_RECONSTRUCTED_MAX) {
        return true;
    }
    char name[32];
    int size = snprintf(name, sizeof name, "reconstructed%u", id);
    struct tide_fields f = {.id = id,
                            .type = bytes_text("bytes"),
                            .source = bytes_of("", 0),
                            .config = bytes_of("", 0),
                            .format = bytes_of("", 0)};
    f.name = bytes_of(arena_copy(&t->arena, name, (size_t)size), (size_t)size);
    if (!f.name.data) {
        return tide_no_room(t, err);
    }
    reel_scan_finding(t->scan, REEL_WARNING, 0, at, 0, "channel %u has no block CHAN: named %s", id, name);
    t->n_reconstructed++;
    *out = tide_add_channel(t, &f, err);
    bool relative;
    return *out && report_channel(t, *out, &(struct tide_types){0}, &relative, err);
}
