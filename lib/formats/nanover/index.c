/* Reads the index of a NanoVer recording. The index has the positions and times of messages; types and keys come from
 * the messages themselves. Both are read through windows, every message is checked, and where the index breaks off the
 * walk goes on without it. */
#include "base/bytes.h"
#include "formats/nanover/scan.h"

#include <inttypes.h>
#include <math.h>

enum {
    INDEX_ENTRY_MAX = 1 << 20, /* most bytes of one index entry */
    FIRST_READ = 4096,
    OVERLAP_SLACK = 1 << 20,
};

/* --- an index entry --- */

static bool item_uint(const struct msgpack_item *v, uint64_t *out) {
    if (v->kind != MSGPACK_INT || v->over || v->integer < 0) {
        return false;
    }
    *out = (uint64_t)v->integer;
    return true;
}

static void claim_time(struct nanover_claim *e, const struct msgpack_item *v) {
    const int64_t max_us = NANOVER_TIME_MAX / 1000;
    if (v->kind == MSGPACK_INT && !v->over && v->integer <= max_us && v->integer >= -max_us) {
        e->has_time = true;
        e->time_ns = v->integer * 1000;
    } else if (v->kind == MSGPACK_FLOAT && fabs(v->number) <= (double)max_us) { /* false for NaN */
        e->has_time = e->float_time = true;
        e->time_ns = llround(v->number * 1000);
    }
}

static enum msgpack_result claim_metadata(struct cursor *c, struct nanover_claim *e, struct msgpack_faults *faults) {
    struct cursor start = *c;
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(c, &map);
    if (r != MSGPACK_OK || map.kind != MSGPACK_MAP) {
        *c = start;
        return msgpack_skip(c, REEL_DEPTH_MAX - 1, faults);
    }
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        struct msgpack_item value = {.kind = MSGPACK_NIL};
        r = msgpack_key(c, &key, REEL_DEPTH_MAX - 2, faults);
        struct cursor before = *c;
        r = r == MSGPACK_OK ? msgpack_take(c, &value, REEL_DEPTH_MAX - 2, faults) : r;
        if (r != MSGPACK_OK) {
            break;
        }
        if (bytes_is(key, "types")) {
            e->has_types = value.kind == MSGPACK_ARRAY;
            e->n_types = value.count;
            e->types = before;
            msgpack_read(&e->types, &value);
        } else if (bytes_is(key, "timestamp")) {
            claim_time(e, &value);
        } else if (bytes_is(key, NANOVER_FRAME_INDEX)) {
            e->has_frame_index = item_uint(&value, &e->frame_index);
        } else {
            e->own_metadata = true;
        }
    }
    return r;
}

static enum msgpack_result claim_read(struct cursor *c, struct nanover_claim *e) {
    const uint8_t *start = c->at;
    *e = (struct nanover_claim){.sound = false};
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item map;
    bool has_offset = false, has_length = false;
    enum msgpack_result r = msgpack_read(c, &map);
    if (r != MSGPACK_OK || map.kind != MSGPACK_MAP) {
        *c = cursor_of(bytes_of(start, (size_t)(c->end - start)));
        return msgpack_skip(c, REEL_DEPTH_MAX, &faults);
    }
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct reel_bytes key;
        struct msgpack_item value;
        r = msgpack_key(c, &key, REEL_DEPTH_MAX - 1, &faults);
        if (r == MSGPACK_OK && bytes_is(key, "metadata")) {
            e->metadata_at = (size_t)(c->at - start);
            r = claim_metadata(c, e, &faults);
            e->metadata_size = (size_t)(c->at - start) - e->metadata_at;
            continue;
        }
        r = r == MSGPACK_OK ? msgpack_take(c, &value, REEL_DEPTH_MAX - 1, &faults) : r;
        if (r != MSGPACK_OK) {
            break;
        }
        if (bytes_is(key, "offset")) {
            has_offset = item_uint(&value, &e->offset);
        } else if (bytes_is(key, "length")) {
            has_length = item_uint(&value, &e->length);
        } else {
            e->own_keys = true;
        }
    }
    e->sound = has_offset && has_length;
    return r;
}

/* --- the walk over the index --- */

bool nanover_index_next(struct nanover_walk *w, struct nanover_claim *e, uint64_t *begin, const char **why,
                        struct reel_error *err) {
    uint64_t left = w->size - w->at < INDEX_ENTRY_MAX ? w->size - w->at : INDEX_ENTRY_MAX;
    uint64_t size = window_held(&w->window, w->at);
    *begin = w->at;
    *why = left == 0 ? "ends before its last entry" : NULL;
    for (size = size > 0 ? size : FIRST_READ; left > 0; size = size < FIRST_READ ? FIRST_READ : size * 2) {
        size = size < left ? size : left;
        const uint8_t *p = window_at(&w->window, w->at, (size_t)size, err);
        if (!p) {
            return false;
        }
        struct cursor c = cursor_of(bytes_of(p, (size_t)size));
        enum msgpack_result r = claim_read(&c, e);
        if (r != MSGPACK_SHORT || size == left) {
            *why = r == MSGPACK_OK ? NULL : msgpack_result_text(r);
            w->at += r == MSGPACK_OK ? (uint64_t)(c.at - p) : 0;
            return true;
        }
    }
    return true;
}

static void compare_claim(struct nanover_scan *s, struct nanover_claim *e, const struct nanover_message *m) {
    bool same = e->n_types == m->n_types;
    for (unsigned i = 0; e->has_types && same && i < m->n_types; i++) {
        struct msgpack_item item;
        same = msgpack_read(&e->types, &item) == MSGPACK_OK && item.kind == MSGPACK_STR &&
               bytes_equal(item.bytes, m->types[i]);
    }
    if (!e->has_types || !same) {
        nanover_quirk_note(s, e->has_types ? QUIRK_TYPES : QUIRK_TYPES_MISSING, e->offset);
    }
    if (e->has_frame_index != m->has_frame_index || e->frame_index != m->frame_index) {
        nanover_quirk_note(s, QUIRK_FRAME_INDEX, e->offset);
    }
    if (e->float_time) {
        nanover_quirk_note(s, QUIRK_FLOAT_TIME, e->offset);
    }
    if (!e->has_time) {
        nanover_quirk_note(s, QUIRK_NO_TIME, e->offset);
    }
    if (e->own_keys) {
        nanover_quirk_note(s, QUIRK_ENTRY_KEY, e->offset);
    }
}

/* Keeps the position of the entry's metadata map, so that a writer can copy its other keys. */
static void keep_metadata(const struct nanover_walk *w, const struct nanover_claim *e, uint64_t begin,
                          struct reel_entry *entry) {
    uint64_t position = w->base + begin + e->metadata_at;
    if (!e->own_metadata) {
        return;
    }
    if (e->metadata_size > NANOVER_KEPT_MAX || position >> 46 != 0) {
        nanover_quirk_note(w->s, QUIRK_NOT_KEPT, e->offset);
        return;
    }
    entry->extra[0] |= (uint64_t)w->chunk << 17 | position << 18;
    entry->extra[1] |= (uint64_t)e->metadata_size << 48;
}

const char *nanover_claim_problem(const struct nanover_claim *e, uint64_t size) {
    return !e->sound                                          ? "has no usable offset and length"
           : e->offset > size || e->length > size - e->offset ? "points outside " NANOVER_MESSAGES
           : e->length > REEL_MESSAGE_MEMORY_MAX              ? "claims a message of over 1 GiB"
                                                              : NULL;
}

static bool take_claim(struct nanover_walk *w, struct nanover_claim *e, uint64_t begin, struct reel_error *err) {
    struct nanover_scan *s = w->s;
    const char *problem = nanover_claim_problem(e, s->size);
    if (problem) {
        reel_scan_finding(s->scan, REEL_LOSS, 0, w->chunk == 0 ? w->base + begin : 0, 0,
                          "index entry at %" PRIu64 " of index.msgpack %s", begin, problem);
        return true;
    }
    const uint8_t *p = nanover_scan_bytes(s, e->offset, (size_t)e->length, err);
    if (!p) {
        return false;
    }
    nanover_running_crc(s, e->offset, p, (size_t)e->length);
    s->checked += e->length;
    struct cursor c = cursor_of(bytes_of(p, (size_t)e->length));
    struct nanover_message m;
    const char *why;
    enum msgpack_result r = nanover_message_read(&c, &m, &s->keys, &why);
    if (r != MSGPACK_OK || !cursor_done(&c)) {
        nanover_lost(s, e->offset, e->length, "%s", r == MSGPACK_OK ? "is shorter than its index entry says" : why);
        s->end = e->offset + e->length > s->end ? e->offset + e->length : s->end;
        return true;
    }
    struct reel_entry entry;
    bool kept;
    if (!nanover_entry_make(s, &m, e->offset, (uint32_t)e->length, &entry, &kept, err)) {
        return false;
    }
    if (!kept) {
        return true;
    }
    compare_claim(s, e, &m);
    keep_metadata(w, e, begin, &entry);
    entry.time_ns = e->has_time ? e->time_ns : s->time_ns;
    return nanover_entry_emit(s, &entry, err);
}

/* Reports why the index walk stopped, and how the messages are read from there. */
static bool index_broken(struct nanover_walk *w, const char *why, struct reel_error *err) {
    reel_scan_finding(w->s->scan, REEL_LOSS, 0, w->chunk == 0 ? w->base + w->at : 0, 0,
                      "index.msgpack %s at %" PRIu64 " of %" PRIu64, why, w->at, w->size);
    return nanover_recover(w->s, w->s->end, err);
}

static bool walk_entries(struct nanover_walk *w, uint64_t count, struct reel_error *err) {
    struct nanover_scan *s = w->s;
    for (uint64_t i = 0; i < count; i++) {
        struct nanover_claim e;
        uint64_t begin;
        const char *why;
        if (!nanover_index_next(w, &e, &begin, &why, err)) {
            return false;
        }
        if (why) {
            return index_broken(w, why, err);
        }
        if (!take_claim(w, &e, begin, err)) {
            return false;
        }
        if (s->checked > 2 * s->size + OVERLAP_SLACK) {
            reel_scan_finding(s->scan, REEL_LOSS, 0, 0, 0,
                              "index entry %" PRIu64
                              ": the entries so far overlap to more than twice the messages; the rest is omitted",
                              i);
            return true;
        }
    }
    if (w->at < w->size) {
        reel_scan_finding(s->scan, REEL_WARNING, 0, w->chunk == 0 ? w->base + w->at : 0, 0,
                          "index.msgpack has bytes after its last entry");
    }
    if (s->end < s->size) {
        reel_scan_finding(s->scan, REEL_NOTE, 0, s->plain ? s->base + s->end : 0, 0,
                          "the last %" PRIu64 " bytes of messages.msgpack are in no index entry", s->size - s->end);
    }
    return true;
}

bool nanover_index_begin(struct nanover_walk *w, uint64_t *count, const char **why, struct reel_error *err) {
    struct msgpack_item list = {.kind = MSGPACK_NIL};
    size_t head = w->size < 5 ? (size_t)w->size : 5;
    const uint8_t *p = window_at(&w->window, 0, head, err);
    if (!p) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(p, head));
    enum msgpack_result r = msgpack_read(&c, &list);
    *why = r != MSGPACK_OK ? msgpack_result_text(r) : list.kind != MSGPACK_ARRAY ? "is not an array" : NULL;
    *count = list.count;
    w->at = *why ? 0 : (uint64_t)(c.at - p);
    return true;
}

bool nanover_walk_index(struct nanover_walk *w, struct reel_error *err) {
    uint64_t count;
    const char *why;
    if (!nanover_index_begin(w, &count, &why, err)) {
        return false;
    }
    return why ? index_broken(w, why, err) : walk_entries(w, count, err);
}
