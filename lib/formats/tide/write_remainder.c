/* TYPE blocks that no channel uses, hashes without a TYPE block, and values of META that are not text. See container.h.
 */
#include "formats/tide/write.h"

#include "base/bytes.h"
#include "syntax/base64.h"

#include <stdio.h>

#define KEPT_TYPE "application/x-tide-type" /* media type of the attachment */
#define BASE64_END ".base64"

/* ---- types that nobody uses ---- */

bool tide_is_kept_type(const struct reel_attachment *a) {
    return strcmp(a->media_type, KEPT_TYPE) == 0 && a->size <= TIDE_DESCRIPTION_MAX;
}

/* Is it a copy of the type before it? */
static bool is_copy(const struct tide *t, size_t i) {
    return i > 0 && bytes_equal(t->types[i - 1].body, t->types[i].body);
}

static bool keep_unused(struct tide *t, const struct tide_types *types, struct reel_error *err) {
    uint64_t kept = 0;
    for (size_t i = 0; i < t->n_types; i++) {
        const struct tide_type *type = &t->types[i];
        if (types->used[i] || is_copy(t, i)) {
            continue;
        }
        if (kept++ == REEL_ATTACHMENTS_MAX) {
            tide_lost(t, type->at, 0, "more than %d blocks TYPE that no channel uses", REEL_ATTACHMENTS_MAX);
            return true;
        }
        char name[256];
        const char *shown = arena_utf8(&t->arena, type->name);
        if (!shown) {
            return tide_no_room(t, err);
        }
        snprintf(name, sizeof name, "TYPE %.200s", shown);
        const struct reel_attachment a = {
            .name = name, .media_type = KEPT_TYPE, .offset = type->at + TIDE_BLOCK_HEAD, .size = type->body.size};
        if (!reel_scan_attachment(t->scan, &a, err)) {
            return false;
        }
    }
    return true;
}

bool tide_put_kept_types(const struct reel_stream *stream, struct reel_sink *out, struct reel_error *err) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        size_t count = 0;
        const struct reel_attachment *all =
            reel_index_attachments(reel_recording_index(reel_reader_recording(stream->readers[i])), &count);
        for (size_t k = 0; k < count; k++) {
            if (!tide_is_kept_type(&all[k])) {
                continue;
            }
            tide_put_head(out, "TYPE", all[k].size);
            if (!reel_write_attachment(stream->readers[i], &all[k], out, err)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- hashes that nobody defines ---- */

struct orphans {
    struct tide *t;
    const struct tide_types *types;
    struct hash_table told;
};

/* Reports a hash once, with the block that refers to it first. */
static bool check_hash(struct orphans *o, struct reel_bytes hash, const char *block, uint64_t at,
                       struct reel_error *err) {
    enum { SHOWN = 32 };
    if (tide_type_find(o->types, hash) || hash_table_get(&o->told, hash_key_bytes(hash))) {
        return true;
    }
    const char *text = tide_hex(&o->t->arena, bytes_of(hash.data, hash.size < SHOWN ? hash.size : SHOWN));
    if (!text) {
        return tide_no_room(o->t, err);
    }
    reel_scan_finding(o->t->scan, REEL_WARNING, 0, at, 0,
                      "block %s at %llu: refers to type %s%s, which has no block TYPE", block, (unsigned long long)at,
                      text, hash.size > SHOWN ? "…" : "");
    return hash_table_set(&o->told, hash_key_bytes(hash), 1, err);
}

static bool check_hashes(struct orphans *o, struct reel_error *err) {
    struct tide *t = o->t;
    for (size_t i = 0; i < t->n_channels; i++) {
        for (uint32_t k = 0; k < t->channels[i].fields.n_hashes; k++) {
            if (!check_hash(o, t->channels[i].fields.hashes[k], "CHAN", t->channels[i].at, err)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < t->n_types; i++) {
        for (uint32_t k = 0; k < t->types[i].n_needs; k++) {
            if (!check_hash(o, t->types[i].needs[k], "TYPE", t->types[i].at, err)) {
                return false;
            }
        }
    }
    return true;
}

bool tide_report_types(struct tide *t, const struct tide_types *types, struct reel_error *err) {
    struct orphans o = {.t = t, .types = types};
    bool good = check_hashes(&o, err);
    hash_table_free(&o.told);
    return good && keep_unused(t, types, err);
}

/* ---- values of META ---- */

static bool ends(struct reel_bytes key) {
    size_t end = strlen(BASE64_END);
    return key.size > end && memcmp(key.data + key.size - end, BASE64_END, end) == 0;
}

static struct reel_bytes without_end(struct reel_bytes key) {
    return bytes_of(key.data, key.size - strlen(BASE64_END));
}

/* The bytes of a value that may be base64 of another one; data NULL: it is not. *bad: no memory. */
static struct reel_bytes decoded(struct arena *arena, struct reel_bytes key, struct reel_bytes value, bool *bad) {
    size_t size = 0;
    uint8_t *out = ends(key) ? arena_alloc(arena, BASE64_ROOM(value.size)) : NULL;
    *bad |= ends(key) && !out;
    return out && base64_read(value, out, &size) ? bytes_of(out, size) : bytes_of(NULL, 0);
}

/* Must the value be kept as base64? */
static bool needs_base64(struct arena *arena, struct reel_bytes key, struct reel_bytes value, bool *bad) {
    while (tide_is_text(value)) {
        value = decoded(arena, key, value, bad);
        if (!value.data) {
            return false;
        }
        key = without_end(key);
    }
    return true;
}

bool tide_keep_value(struct arena *arena, const char **key, struct reel_bytes *value) {
    bool bad = false;
    if (!needs_base64(arena, bytes_text(*key), *value, &bad)) {
        return !bad;
    }
    size_t size = strlen(*key);
    char *longer = arena_alloc(arena, size + sizeof BASE64_END);
    *value = tide_base64(arena, *value);
    if (!longer || !value->data) {
        return false;
    }
    memcpy(longer, *key, size);
    memcpy(longer + size, BASE64_END, sizeof BASE64_END);
    *key = longer;
    return !bad;
}

bool tide_kept_value(struct arena *arena, struct reel_bytes *key, struct reel_bytes *value) {
    bool bad = false;
    struct reel_bytes back = decoded(arena, *key, *value, &bad);
    if (back.data && needs_base64(arena, without_end(*key), back, &bad)) {
        *key = without_end(*key);
        *value = back;
    }
    return !bad;
}
