/* Reads NanoVer recordings. Rule: the index says where messages are and when they came, each message says what it is; both are walked through
 * windows, every message is checked, and where the index breaks off the messages themselves are walked on. */
#include "formats/nanover_scan.h"
#include "formats/nanover_wire.h"
#include "reel/write.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <math.h>
#include <stdio.h>

extern const struct reel_format reel_format_nanover;

enum {
    INDEX_ENTRY_MAX = 1 << 20,  /* bytes of one index entry */
    FIRST_READ = 4096,
    DEFLATE_RATIO_MAX = 1100,   /* Deflate cannot do better than 1032 : 1 */
    OVERLAP_SLACK = 1 << 20,
};

/* --- an index entry --- */

struct claim {
    bool sound; /* offset and length are there */
    uint64_t offset, length;
    bool has_types;
    uint64_t n_types;
    struct cursor types; /* behind the array's header */
    bool has_frame_index;
    uint64_t frame_index;
    bool has_time, float_time;
    int64_t time_ns;
    bool own_keys;       /* in the entry, beside the three */
    bool own_metadata;   /* in metadata, beside the three */
    size_t metadata_at, metadata_size; /* from the entry's first byte */
};

static bool item_uint(const struct pack_item *v, uint64_t *out) {
    if (v->kind != PACK_INT || v->over || v->integer < 0) {
        return false;
    }
    *out = (uint64_t)v->integer;
    return true;
}

static void claim_time(struct claim *e, const struct pack_item *v) {
    const int64_t max_us = NANOVER_TIME_MAX / 1000;
    if (v->kind == PACK_INT && !v->over && v->integer <= max_us && v->integer >= -max_us) {
        e->has_time = true;
        e->time_ns = v->integer * 1000;
    } else if (v->kind == PACK_FLOAT && fabs(v->number) <= (double)max_us) { /* false for NaN */
        e->has_time = e->float_time = true;
        e->time_ns = llround(v->number * 1000);
    }
}

static enum pack_result claim_metadata(struct cursor *c, struct claim *e, struct pack_faults *faults) {
    struct cursor start = *c;
    struct pack_item map;
    enum pack_result r = pack_read(c, &map);
    if (r != PACK_OK || map.kind != PACK_MAP) {
        *c = start;
        return pack_skip(c, REEL_DEPTH_MAX - 1, faults);
    }
    for (uint64_t i = 0; i < map.count && r == PACK_OK; i++) {
        struct bytes key;
        struct pack_item value = {.kind = PACK_NIL};
        r = pack_key(c, &key, REEL_DEPTH_MAX - 2, faults);
        struct cursor place = *c;
        r = r == PACK_OK ? pack_take(c, &value, REEL_DEPTH_MAX - 2, faults) : r;
        if (r != PACK_OK) {
            break;
        }
        if (bytes_is(key, "types")) {
            e->has_types = value.kind == PACK_ARRAY;
            e->n_types = value.count;
            e->types = place;
            pack_read(&e->types, &value);
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

static enum pack_result claim_read(struct cursor *c, struct claim *e) {
    const uint8_t *start = c->at;
    *e = (struct claim){.sound = false};
    struct pack_faults faults = {.text = false};
    struct pack_item map;
    bool has_offset = false, has_length = false;
    enum pack_result r = pack_read(c, &map);
    if (r != PACK_OK || map.kind != PACK_MAP) {
        *c = cursor_of(bytes_of(start, (size_t)(c->end - start)));
        return pack_skip(c, REEL_DEPTH_MAX, &faults);
    }
    for (uint64_t i = 0; i < map.count && r == PACK_OK; i++) {
        struct bytes key;
        struct pack_item value;
        r = pack_key(c, &key, REEL_DEPTH_MAX - 1, &faults);
        if (r == PACK_OK && bytes_is(key, "metadata")) {
            e->metadata_at = (size_t)(c->at - start);
            r = claim_metadata(c, e, &faults);
            e->metadata_size = (size_t)(c->at - start) - e->metadata_at;
            continue;
        }
        r = r == PACK_OK ? pack_take(c, &value, REEL_DEPTH_MAX - 1, &faults) : r;
        if (r != PACK_OK) {
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

struct walk {
    struct nanover_scan *s;
    struct window window; /* on the index member */
    struct reel_source *source;
    uint64_t size, at;
    uint64_t base; /* of its bytes in their chunk */
    uint32_t chunk;
};

static bool next_claim(struct walk *w, struct claim *e, enum pack_result *result, uint64_t *begin, struct reel_error *err) {
    uint64_t left = w->size - w->at < INDEX_ENTRY_MAX ? w->size - w->at : INDEX_ENTRY_MAX;
    uint64_t want = window_held(&w->window, w->at);
    want = want > 0 ? want : FIRST_READ;
    for (;;) {
        want = want < left ? want : left;
        const uint8_t *p = window_at(&w->window, w->at, (size_t)want, err);
        if (!p) {
            return false;
        }
        struct cursor c = cursor_of(bytes_of(p, (size_t)want));
        *result = claim_read(&c, e);
        if (*result != PACK_SHORT || want == left) {
            *begin = w->at;
            w->at += (uint64_t)(c.at - p);
            return true;
        }
        want = want < FIRST_READ ? FIRST_READ : want * 2;
    }
}

static void compare_claim(struct nanover_scan *s, struct claim *e, const struct nanover_message *m) {
    bool same = e->n_types == m->n_types;
    for (unsigned i = 0; e->has_types && same && i < m->n_types; i++) {
        struct pack_item item;
        same = pack_read(&e->types, &item) == PACK_OK && item.kind == PACK_STR && bytes_equal(item.bytes, m->types[i]);
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

/* Remembers where the metadata map of the entry is, for writing its own keys again. */
static void keep_metadata(const struct walk *w, const struct claim *e, uint64_t begin, struct reel_entry *entry) {
    uint64_t place = w->base + begin + e->metadata_at;
    if (!e->own_metadata) {
        return;
    }
    if (e->metadata_size > NANOVER_KEPT_MAX || place >> 46 != 0) {
        nanover_quirk_note(w->s, QUIRK_NOT_KEPT, e->offset);
        return;
    }
    entry->extra[0] |= (uint64_t)w->chunk << 17 | place << 18;
    entry->extra[1] |= (uint64_t)e->metadata_size << 48;
}

static void running_crc(struct nanover_scan *s, uint64_t offset, const uint8_t *data, size_t size) {
    if (offset == s->crc_end) {
        s->crc = libdeflate_crc32(s->crc, data, size);
        s->crc_end += size;
    }
}

static bool take_claim(struct walk *w, struct claim *e, uint64_t begin, struct reel_error *err) {
    struct nanover_scan *s = w->s;
    if (!e->sound || e->offset > s->size || e->length > s->size - e->offset || e->length > REEL_MESSAGE_MEMORY_MAX) {
        const char *why = !e->sound                                                             ? "has no offset and length"
                          : e->offset <= s->size && e->length <= s->size - e->offset ? "claims a message of over 1 GiB"
                                                                                                : "points outside " NANOVER_MESSAGES;
        reel_scan_finding(s->scan, REEL_LOSS, 0, w->chunk == 0 ? w->base + begin : 0, 0, "index entry at %" PRIu64 " of index.msgpack %s", begin, why);
        return true;
    }
    const uint8_t *p = nanover_scan_bytes(s, e->offset, (size_t)e->length, err);
    if (!p) {
        return false;
    }
    running_crc(s, e->offset, p, (size_t)e->length);
    s->checked += e->length;
    struct cursor c = cursor_of(bytes_of(p, (size_t)e->length));
    struct nanover_message m;
    const char *why;
    enum pack_result r = nanover_message_read(&c, &m, &why);
    if (r != PACK_OK || !cursor_done(&c)) {
        nanover_lost(s, e->offset, e->length, "%s", r == PACK_OK ? "is shorter than its index entry says" : why);
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
    return nanover_entry_give(s, &entry, err);
}

/* Why the walk stopped before its end, and how the messages go on. */
static bool index_broken(struct walk *w, const char *why, struct reel_error *err) {
    reel_scan_finding(w->s->scan, REEL_LOSS, 0, w->chunk == 0 ? w->base + w->at : 0, 0, "index.msgpack %s at %" PRIu64 " of %" PRIu64, why, w->at, w->size);
    return nanover_recover(w->s, w->s->end, err);
}

static bool walk_entries(struct walk *w, uint64_t count, struct reel_error *err) {
    struct nanover_scan *s = w->s;
    for (uint64_t i = 0; i < count; i++) {
        struct claim e;
        enum pack_result r;
        uint64_t begin = 0;
        if (w->at >= w->size) {
            return index_broken(w, "ends before its last entry", err);
        }
        if (!next_claim(w, &e, &r, &begin, err)) {
            return false;
        }
        if (r != PACK_OK) {
            w->at = begin;
            return index_broken(w, pack_result_text(r), err);
        }
        if (!take_claim(w, &e, begin, err)) {
            return false;
        }
        if (s->checked > 2 * s->size + OVERLAP_SLACK) {
            reel_scan_finding(s->scan, REEL_LOSS, 0, 0, 0, "index entry %" PRIu64 ": the entries so far overlap to more than twice the messages; the rest is left out", i);
            return true;
        }
    }
    if (w->at < w->size) {
        reel_scan_finding(s->scan, REEL_WARNING, 0, w->chunk == 0 ? w->base + w->at : 0, 0, "index.msgpack goes on after its last entry");
    }
    if (s->end < s->size) {
        reel_scan_finding(s->scan, REEL_NOTE, 0, s->plain ? s->base + s->end : 0, 0, "the last %" PRIu64 " bytes of messages.msgpack are in no index entry",
                          s->size - s->end);
    }
    return true;
}

static bool walk_index(struct walk *w, struct reel_error *err) {
    struct pack_item list = {.kind = PACK_NIL};
    size_t head = w->size < 5 ? (size_t)w->size : 5;
    const uint8_t *p = window_at(&w->window, 0, head, err);
    if (!p) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(p, head));
    enum pack_result r = pack_read(&c, &list);
    if (r != PACK_OK || list.kind != PACK_ARRAY) {
        return index_broken(w, r == PACK_OK ? "is no array" : pack_result_text(r), err);
    }
    w->at = (uint64_t)(c.at - p);
    return walk_entries(w, list.count, err);
}

/* --- members --- */

/* A member's raw bytes as a source, and how entries are to address them. */
static bool open_member(struct reel_scan *scan, const struct nanover_member *m, struct reel_source **source, uint32_t *chunk, uint64_t *base, struct reel_error *err) {
    if (m->codec == REEL_CODEC_NONE) {
        *chunk = 0;
        *base = m->offset;
        *source = reel_source_slice(scan->parts[0], m->offset, m->stored, err);
        return *source != NULL;
    }
    if (m->raw / DEFLATE_RATIO_MAX > m->stored) {
        return reel_fail(err, REEL_DAMAGED, "%" PRIu64 " compressed bytes cannot become %" PRIu64, m->stored, m->raw);
    }
    struct reel_chunk run = {.part = 0, .codec = m->codec, .offset = m->offset, .stored = m->stored, .raw = m->raw};
    *base = 0;
    *source = reel_scan_open_chunk(scan, &run, err);
    return *source && reel_scan_chunk(scan, &run, chunk, err);
}

static bool is_damage(const struct reel_error *err) {
    return err->code == REEL_DAMAGED || err->code == REEL_LIMIT;
}

static bool check_crc(struct nanover_scan *s, const struct nanover_member *m, struct reel_error *err) {
    while (m->crc_known && s->crc_end < s->size) {
        size_t size = s->size - s->crc_end < REEL_WINDOW_BYTES ? (size_t)(s->size - s->crc_end) : REEL_WINDOW_BYTES;
        const uint8_t *p = nanover_scan_bytes(s, s->crc_end, size, err);
        if (!p) {
            return false;
        }
        running_crc(s, s->crc_end, p, size);
        if (!reel_scan_progress(s->scan, s->crc_end, s->size, err)) {
            return false;
        }
    }
    if (m->crc_known && s->crc != m->crc) {
        reel_scan_finding(s->scan, REEL_LOSS, 0, m->offset, 0, "messages.msgpack has CRC-32 %08x, the archive says %08x: some of its bytes are not those recorded", s->crc, m->crc);
    }
    return true;
}

static const char *suffix_type(const char *name) {
    static const struct {
        const char *suffix, *type;
    } types[] = {{".json", "application/json"}, {".msgpack", "application/msgpack"}, {".txt", "text/plain"}, {".md", "text/markdown"}, {".csv", "text/csv"},
                 {".html", "text/html"},        {".xml", "application/xml"},         {".png", "image/png"},  {".jpg", "image/jpeg"},   {".pdb", "chemical/x-pdb"}};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t n = strlen(types[i].suffix);
        if (size > n && strcasecmp(name + size - n, types[i].suffix) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

/* Every other member, as an attachment. */
static bool attach(struct reel_scan *scan, const struct nanover_archive *archive, struct reel_error *err) {
    for (size_t i = 0; i < archive->count; i++) {
        const struct nanover_member *m = &archive->members[i];
        bool folder = m->name.size > 0 && m->name.data[m->name.size - 1] == '/';
        if (folder || bytes_is(m->name, NANOVER_MESSAGES) || bytes_is(m->name, NANOVER_INDEX)) {
            continue;
        }
        const char *name = reel_scan_text(scan, m->name);
        struct reel_attachment a = {.name = name, .chunk = 0, .offset = m->offset, .size = m->raw};
        if (!name) {
            return reel_fail_memory(err);
        }
        if (m->problem) {
            reel_scan_finding(scan, REEL_LOSS, 0, m->offset, 0, "member %s: %s", name, m->problem);
            continue;
        }
        a.media_type = suffix_type(name);
        if (m->codec != REEL_CODEC_NONE) {
            struct reel_chunk run = {.part = 0, .codec = m->codec, .offset = m->offset, .stored = m->stored, .raw = m->raw};
            a.offset = 0;
            if (m->raw / DEFLATE_RATIO_MAX > m->stored) {
                reel_scan_finding(scan, REEL_LOSS, 0, m->offset, 0, "member %s: so few bytes cannot become so many", name);
                continue;
            }
            if (!reel_scan_chunk(scan, &run, &a.chunk, err)) {
                return false;
            }
        }
        if (!reel_scan_attachment(scan, &a, err)) {
            return false;
        }
    }
    return true;
}

static void free_scan(struct nanover_scan *s) {
    window_close(&s->window);
    reel_source_free(s->messages);
    free(s->jump);
    free(s->channels.slots);
    free(s->sets.slots);
}
static inline void reel_auto_free_scan(struct nanover_scan *s) {
    free_scan(s);
}
static inline void reel_auto_free_walk(struct walk *w) {
    window_close(&w->window);
    reel_source_free(w->source);
}

/* Messages by the index when there is one that can be read, else by themselves. */
static bool scan_messages(struct nanover_scan *s, const struct nanover_archive *archive, struct reel_error *err) {
    const struct nanover_member *m = archive->index;
    AUTO(free_walk) struct walk w = {.s = s};
    struct reel_error why = {.code = REEL_OK};
    bool readable = false;
    if (!m || m->problem) {
        reel_fail(&why, REEL_DAMAGED, "%s", m ? m->problem : "it is missing");
    } else {
        w.size = m->raw;
        readable = open_member(s->scan, m, &w.source, &w.chunk, &w.base, &why);
        if (!readable && !is_damage(&why)) {
            *err = why;
            return false;
        }
    }
    if (!readable) {
        reel_scan_finding(s->scan, REEL_LOSS, 0, 0, 0, "index.msgpack cannot be read: %s", why.text);
        return nanover_recover(s, 0, err);
    }
    return window_open(&w.window, w.source, REEL_WINDOW_BYTES, err) && walk_index(&w, err);
}

static bool tell_archive(struct reel_scan *scan, const struct nanover_archive *archive, struct reel_error *err) {
    const struct nanover_member *m = archive->messages, *index = archive->index;
    reel_scan_container(scan, m->codec == REEL_CODEC_NONE ? "ZIP, stored" : "ZIP, deflated");
    reel_scan_clock(scan, REEL_CLOCK_RELATIVE, "timestamps count from the start of the recorder");
    if (archive->lost) {
        reel_scan_finding(scan, REEL_LOSS, 0, 0, 0, "%s; members are taken from their local headers", archive->lost);
    }
    if (index && index->codec == REEL_CODEC_NONE && index->offset < m->offset) {
        reel_scan_finding(scan, REEL_NOTE, 0, index->offset, 0, "the index stands before the messages");
    }
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, m->raw);
    return reel_scan_metadata(scan, "messages.msgpack bytes", bytes_text(number), err) && attach(scan, archive, err);
}

static bool nanover_scan(struct reel_scan *scan, struct reel_error *err) {
    AUTO(nanover_archive_close) struct nanover_archive archive = {.count = 0};
    if (!nanover_archive_open(&archive, scan->parts[0], err)) {
        return false;
    }
    const struct nanover_member *m = archive.messages;
    if (m->problem) {
        return reel_fail(err, REEL_DAMAGED, "messages.msgpack: %s", m->problem);
    }
    AUTO(free_scan) struct nanover_scan s = {.scan = scan, .size = m->raw, .plain = m->codec == REEL_CODEC_NONE};
    struct nanover_scan *self = &s;
    if (archive.index && !archive.index->problem && archive.index->codec != REEL_CODEC_NONE) {
        struct reel_chunk run = {.part = 0, .codec = archive.index->codec, .offset = archive.index->offset, .stored = archive.index->stored, .raw = archive.index->raw};
        (void)run;
    }
    if (!open_member(scan, m, &self->messages, &self->chunk, &self->base, err) || !window_open(&s.window, s.messages, REEL_WINDOW_BYTES, err)) {
        return reel_error_at(err, "messages.msgpack");
    }
    if (!scan_messages(&s, &archive, err) || !check_crc(&s, m, err)) {
        return false;
    }
    nanover_quirks_tell(&s);
    return tell_archive(scan, &archive, err);
}
