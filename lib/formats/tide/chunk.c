/* CHNK blocks and their entries. Entries are read one after another as long as they fit; bytes that do not fit are
 * reported with their position, and the next plausible entry is searched after them. */
#include "formats/tide/container.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "chunks/codec.h"

#define ODD_BEFORE_NS (631152000LL * 1000000000) /* 1990 */
#define ODD_FROM_NS (4102444800LL * 1000000000)  /* 2100 */

struct entries {
    struct window *window; /* on the file, or on the decoded chunk */
    uint64_t at, end;      /* positions in it */
    uint64_t first;        /* offsets in the index are relative to this */
    uint64_t position;     /* of the block, in the file */
    bool plain, bounded;   /* bounded: start and end make sense */
    bool cut;              /* the end of the block is missing, or its Size is wrong */
    uint32_t chunk;        /* id in the model */
    uint32_t id, stated;   /* from the head of the block */
    uint64_t start_ns, end_ns;
    uint64_t count, min_ns, max_ns;
    struct tide_channel *last; /* of the previous entry, or NULL */
};

struct head {
    uint32_t channel, size;
    uint64_t time_ns;
};

static struct head head_of(const uint8_t *p) {
    return (struct head){.channel = load_u32le(p),
                         .time_ns = load_u64le(p + TIDE_ENTRY_TIME_AT),
                         .size = load_u32le(p + TIDE_ENTRY_SIZE_AT)};
}

/* ---- searching for entries ---- */

static bool looks_right(const struct tide *t, const struct entries *e, const uint8_t *p, uint64_t left) {
    struct head h = head_of(p);
    if (h.size > left - TIDE_ENTRY_HEAD || (e->bounded && (h.time_ns < e->start_ns || h.time_ns > e->end_ns))) {
        return false;
    }
    const struct tide_channel *c = tide_find(t, h.channel);
    return c && c->described;
}

/* *found: the next plausible entry from `at` on that another one, or the end, follows; e->end if there is none. */
static bool next_entry(struct tide *t, const struct entries *e, uint64_t at, uint64_t *found, struct reel_error *err) {
    *found = e->end;
    while (e->bounded && at < e->end && e->end - at >= TIDE_ENTRY_HEAD) {
        const uint8_t *p = window_at(e->window, at, TIDE_ENTRY_HEAD, err);
        if (!p) {
            return false;
        }
        size_t held = window_held(e->window, at);
        size_t last = (held < e->end - at ? held : (size_t)(e->end - at)) - TIDE_ENTRY_HEAD, i = 0;
        while (i <= last && !looks_right(t, e, p + i, e->end - at - i)) {
            i++;
        }
        at += i;
        if (i <= last) {
            uint64_t next = at + TIDE_ENTRY_HEAD + head_of(p + i).size;
            /* Only checked if it is in the window, because every byte may be a candidate. */
            bool in_window = e->end - next >= TIDE_ENTRY_HEAD && window_held(e->window, next) >= TIDE_ENTRY_HEAD;
            if (!in_window || looks_right(t, e, p + i + (next - at), e->end - next)) {
                *found = at;
                return true;
            }
            at++;
        }
        if (!tide_progress(t, e->plain ? at : e->position, err)) {
            return false;
        }
    }
    return true;
}

/* Are the remaining bytes all entries of known channels? */
static bool rest_is_entries(struct tide *t, const struct entries *e, bool *yes, struct reel_error *err) {
    uint64_t at = e->at;
    *yes = true;
    while (*yes && e->end - at >= TIDE_ENTRY_HEAD) {
        const uint8_t *p = window_at(e->window, at, TIDE_ENTRY_HEAD, err);
        if (!p) {
            return false;
        }
        *yes = looks_right(t, e, p, e->end - at);
        at += *yes ? TIDE_ENTRY_HEAD + (uint64_t)head_of(p).size : 0;
    }
    return true;
}

/* ---- entries ---- */

/* Reports the bytes from `from` to `to` as lost. */
static void lost_entries(struct tide *t, const struct entries *e, uint64_t from, uint64_t to, const char *why) {
    unsigned long long size = to - from;
    if (e->plain) {
        tide_lost(t, from, size, "entry at %llu: %s; %llu bytes are lost", (unsigned long long)from, why, size);
    } else {
        tide_lost(t, e->position, 0, "chunk at %llu: entry at %llu of it: %s; %llu bytes are lost",
                  (unsigned long long)e->position, (unsigned long long)(from - e->first), why, size);
    }
}

static void tide_count(struct tide *t, struct entries *e, struct tide_channel *c, uint64_t time_ns, uint64_t offset) {
    e->min_ns = e->count == 0 || time_ns < e->min_ns ? time_ns : e->min_ns;
    e->max_ns = e->count == 0 || time_ns > e->max_ns ? time_ns : e->max_ns;
    e->count++;
    t->messages++;
    c->messages++;
    c->sums[0] += tide_position_hash(e->id, time_ns, offset);
    if (t->is_new) {
        c->sums[1] += tide_position_hash(e->position, time_ns, offset);
        c->sums[2] += tide_position_hash(e->position + TIDE_BLOCK_HEAD, time_ns, offset);
    }
}

/* Reads the entry at e->at, which is complete. */
static bool tide_read_entry(struct tide *t, struct entries *e, struct head h, struct reel_error *err) {
    if (!e->last || e->last->fields.id != h.channel) {
        if (!tide_channel_of(t, h.channel, e->plain ? e->at : e->position, &e->last, err)) {
            return false;
        }
        if (!e->last) {
            lost_entries(t, e, e->at, e->at + TIDE_ENTRY_HEAD + h.size, "too many channels without a block CHAN");
            return true;
        }
    }
    tide_count(t, e, e->last, h.time_ns, e->at - e->first);
    if (h.time_ns > INT64_MAX) {
        tide_oddity(&t->late, e->plain ? e->at : e->position);
    }
    int64_t time = h.time_ns > INT64_MAX ? INT64_MAX : (int64_t)h.time_ns;
    if (!t->relative && (time < ODD_BEFORE_NS || time >= ODD_FROM_NS)) {
        tide_oddity(&t->odd_times, e->plain ? e->at : e->position);
    }
    return reel_scan_entry(t->scan,
                           &(struct reel_entry){.time_ns = time,
                                                .offset = e->at,
                                                .channel = e->last->model,
                                                .chunk = e->chunk,
                                                .head = TIDE_ENTRY_HEAD,
                                                .size = h.size},
                           err);
}

/* The entry at e->at does not fit: searches for the next one. */
static bool skip_entry(struct tide *t, struct entries *e, struct reel_error *err) {
    uint64_t found;
    if (!next_entry(t, e, e->at + 1, &found, err)) {
        return false;
    }
    lost_entries(t, e, e->at, found, e->cut && found == e->end ? "it is truncated" : "its size exceeds the chunk");
    e->at = found;
    return true;
}

/* What follows the last entry: four zero bytes from old recorders, or fields of a later version. */
static bool read_rest(struct tide *t, struct entries *e, struct reel_error *err) {
    uint64_t left = e->end - e->at;
    if (left == 0) {
        return true;
    }
    if (e->cut && left < TIDE_ENTRY_HEAD) {
        lost_entries(t, e, e->at, e->end, "it is truncated");
        return true;
    }
    const uint8_t *p = left == 4 && !t->is_new ? window_at(e->window, e->at, 4, err) : NULL;
    if (left == 4 && !t->is_new && !p) {
        return false;
    }
    tide_oddity(p && load_u32le(p) == 0 ? &t->padded : &t->beyond, e->position);
    return true;
}

static bool read_entries(struct tide *t, struct entries *e, struct reel_error *err) {
    bool beyond = e->cut; /* read more entries than the head states */
    while (e->end - e->at >= TIDE_ENTRY_HEAD) {
        if (!beyond && e->count == e->stated) {
            if (!rest_is_entries(t, e, &beyond, err)) {
                return false;
            }
            if (!beyond) {
                break;
            }
        }
        const uint8_t *p = window_at(e->window, e->at, TIDE_ENTRY_HEAD, err);
        if (!p) {
            return false;
        }
        struct head h = head_of(p);
        if (h.size > e->end - e->at - TIDE_ENTRY_HEAD) {
            if (!skip_entry(t, e, err)) {
                return false;
            }
            continue;
        }
        if (!tide_read_entry(t, e, h, err)) {
            return false;
        }
        e->at += TIDE_ENTRY_HEAD + (uint64_t)h.size;
        if (!tide_progress(t, e->plain ? e->at : e->position, err)) {
            return false;
        }
    }
    return read_rest(t, e, err);
}

/* ---- chunks ---- */

static void tide_chunk_compare(struct tide *t, const struct tide_block *b, const struct entries *e,
                               uint64_t lost_before) {
    bool whole = t->lost == lost_before;
    if (b->size < TIDE_CHUNK_HEAD) {
        tide_oddity(&t->unfinished, b->at); /* its head states nothing */
        return;
    }
    if (b->cut && whole && e->stated == e->count) {
        tide_oddity(&t->resized, b->at); /* only its Size is wrong */
    } else if (b->cut) {
        tide_lost(t, b->at, 0, "chunk at %llu: truncated, it has %llu of %u entries", (unsigned long long)b->at,
                  (unsigned long long)e->count, e->stated);
    } else if (whole && e->stated != e->count) {
        bool bytes = t->major < 2 && e->stated == e->at - e->first;
        tide_oddity(bytes ? &t->byte_counts : &t->counts, b->at);
    }
    if (e->count > 0 && (e->min_ns < e->start_ns || e->max_ns > e->end_ns)) {
        tide_oddity(&t->ranges, b->at);
    }
}

/* Whether all entries that begin in these first bytes of a chunk have a time and fit into it. Zeros would be empty
 * entries without one. */
static bool holds_entries(struct reel_bytes beginning, uint64_t raw) {
    uint64_t at = 0;
    while (at < beginning.size && beginning.size - at >= TIDE_ENTRY_HEAD) {
        struct head h = head_of(beginning.data + at);
        if (h.time_ns == 0 || h.size > raw - at - TIDE_ENTRY_HEAD) {
            return false;
        }
        at += TIDE_ENTRY_HEAD + (uint64_t)h.size;
    }
    return beginning.size >= TIDE_ENTRY_HEAD;
}

/* Measures a chunk, whose size is stated nowhere. */
static bool measure_as(struct tide *t, struct reel_chunk *chunk, struct reel_error *why) {
    const struct reel_scan *scan = t->scan;
    const uint64_t max = (uint64_t)REEL_CHUNK_RAW_MAX_MIB << 20,
                   unasked = reel_scan_expansion_max(chunk->codec, chunk->stored);
    uint64_t most = unasked < REEL_EXPANSION_FREE && scan->expanded < REEL_EXPANSION_FREE && !scan->useless
                        ? REEL_EXPANSION_FREE
                        : unasked;
    most = most < max ? most : max;
    if (codec_measure(chunk->codec, t->source, chunk->offset, chunk->stored, most, &chunk->raw, why)) {
        return reel_scan_worth_decoding(t->scan, chunk, holds_entries, why);
    }
    if (why->code != REEL_LIMIT || most == max) {
        return false;
    }
    *why = (struct reel_error){0};
    chunk->raw = max; /* perhaps */
    return reel_scan_worth_decoding(t->scan, chunk, holds_entries, why) &&
           codec_measure(chunk->codec, t->source, chunk->offset, chunk->stored, max, &chunk->raw, why);
}

/* Finds the codec and the decoded size. Compression 1 may be gzip, zlib or raw deflate. */
static bool tide_measure(struct tide *t, uint8_t compression, struct reel_chunk *chunk, struct reel_error *why) {
    uint8_t magic[2] = {0};
    if (chunk->stored >= sizeof magic && !reel_source_read(t->source, chunk->offset, magic, sizeof magic, why)) {
        return false;
    }
    bool zlib = (magic[0] & 15) == 8 && (magic[0] << 8 | magic[1]) % 31 == 0;
    enum reel_codec codecs[] = {compression == TIDE_BZIP2              ? REEL_CODEC_BZIP2
                                : magic[0] == 0x1f && magic[1] == 0x8b ? REEL_CODEC_GZIP
                                : zlib                                 ? REEL_CODEC_ZLIB
                                                                       : REEL_CODEC_DEFLATE,
                                REEL_CODEC_DEFLATE};
    for (int i = 0; i < 1 + zlib; i++) {
        chunk->codec = codecs[i];
        if (measure_as(t, chunk, why)) {
            return true;
        }
        if (why->code != REEL_DAMAGED || codecs[i] != REEL_CODEC_ZLIB) {
            return false;
        }
    }
    return false;
}

static bool is_of_chunk(const struct reel_error *why) {
    return why->code == REEL_DAMAGED || why->code == REEL_UNSUPPORTED || why->code == REEL_LIMIT;
}

static bool read_compressed(struct tide *t, const struct tide_block *b, uint8_t compression, struct entries *e,
                            struct reel_error *err) {
    struct reel_chunk chunk = {.offset = e->at, .stored = e->end - e->at};
    struct reel_error why = {0};
    if (!tide_measure(t, compression, &chunk, &why)) {
        if (!is_of_chunk(&why)) {
            return reel_error_pass(err, &why);
        }
        if (why.code == REEL_DAMAGED && b->cut && /* else a checksum may say that it decodes to something wrong */
            !codec_measure_damaged(&chunk, t->source, reel_scan_expansion_max(chunk.codec, chunk.stored), err)) {
            return false;
        }
        if (!chunk.damaged || chunk.raw == 0) {
            tide_lost(t, b->at, b->end - b->at, "chunk at %llu: %s", (unsigned long long)b->at, why.text);
            return true;
        }
    }
    AUTO(reel_source_free) struct reel_source *raw = NULL;
    if (!reel_scan_chunk(t->scan, &chunk, &e->chunk, err) || !(raw = reel_scan_open_chunk(t->scan, &chunk, err))) {
        return false;
    }
    struct window window;
    size_t capacity = raw->size < t->data.capacity ? (size_t)raw->size : t->data.capacity;
    if (!window_open(&window, raw, capacity, err)) {
        return false;
    }
    e->window = &window;
    e->at = e->first = 0;
    e->end = raw->size;
    e->plain = false;
    e->cut = chunk.damaged;
    uint64_t lost = t->lost;
    bool good = read_entries(t, e, err);
    window_close(&window);
    if (good) {
        tide_chunk_compare(t, b, e, lost);
    }
    return good;
}

bool tide_read_chunk(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    uint64_t body = b->at + TIDE_BLOCK_HEAD;
    if (b->end - body < TIDE_CHUNK_HEAD) {
        tide_lost(t, b->at, b->end - b->at, "chunk at %llu: its head is truncated", (unsigned long long)b->at);
        return true;
    }
    const uint8_t *p = window_at(&t->data, body, TIDE_CHUNK_HEAD, err);
    if (!p) {
        return false;
    }
    uint8_t compression = p[TIDE_CHUNK_COMPRESSION_AT];
    struct entries e = {.window = &t->data,
                        .at = body + TIDE_CHUNK_HEAD,
                        .end = b->end,
                        .first = body + TIDE_CHUNK_HEAD,
                        .position = b->at,
                        .plain = true,
                        .cut = b->cut || b->resized,
                        .id = load_u32le(p),
                        .stated = load_u32le(p + TIDE_CHUNK_COUNT_AT),
                        .start_ns = load_u64le(p + TIDE_CHUNK_START_AT),
                        .end_ns = load_u64le(p + TIDE_CHUNK_END_AT)};
    e.bounded = e.start_ns <= e.end_ns && e.end_ns > 0;
    t->chunks++;
    if (compression > TIDE_BZIP2) {
        tide_lost(t, b->at, b->end - b->at, "chunk at %llu: unknown compression %u", (unsigned long long)b->at,
                  compression);
        return true;
    }
    if (compression != TIDE_PLAIN) {
        return read_compressed(t, b, compression, &e, err);
    }
    uint64_t lost = t->lost;
    if (!read_entries(t, &e, err)) {
        return false;
    }
    tide_chunk_compare(t, b, &e, lost);
    return true;
}
