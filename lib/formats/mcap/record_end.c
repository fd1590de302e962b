/* The end of a recorded MCAP file: DataEnd, and the summary of what the walk over the file finds. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/mcap/record.h"

#include <libdeflate.h>

enum { CHUNK_FIXED = MCAP_CHUNK_HEAD - MCAP_RECORD_HEAD };

struct ending {
    struct mcap_recorder *m;
    uint64_t data_end;                           /* the walk ends here */
    struct grow definitions[2];                  /* Schema records; Channel records */
    uint64_t *counts;                            /* messages by channel */
    uint64_t messages, start_ns, end_ns, chunks; /* of the file */
    struct grow out;                             /* of the summary, not written yet */
    uint32_t crc;
};
static void ending_done(struct ending *e) {
    free(e->definitions[0].data);
    free(e->definitions[1].data);
    free(e->counts);
    free(e->out.data);
}

/* Appends what was put into e->out to the file. */
static bool put_out(struct ending *e, struct reel_error *err) {
    if (e->out.failed) {
        return reel_fail_memory(err);
    }
    e->crc = libdeflate_crc32(e->crc, e->out.data, e->out.size);
    bool good = recorder_put(&e->m->base, e->out.data, e->out.size, err);
    e->out.size = 0;
    return good;
}
static void mcap_record_end_put_record(struct ending *e, enum mcap_op op, uint64_t size) {
    grow_u8(&e->out, (uint8_t)op);
    grow_u64(&e->out, size);
}
static void mcap_put_u16(struct grow *out, uint16_t value) {
    uint8_t b[2];
    store_u16le(b, value);
    grow_put(out, b, sizeof b);
}

/* ---- what the file has */

static bool keep_definition(struct ending *e, struct mcap_records *walk, const struct mcap_record *r,
                            struct reel_error *err) {
    struct grow *to = &e->definitions[r->op == MCAP_CHANNEL];
    if (to->size + r->length > REEL_MODEL_MAX) {
        return reel_fail(err, REEL_LIMIT, "the definitions of this recording are more than %d bytes", REEL_MODEL_MAX);
    }
    const uint8_t *p = mcap_records_view(walk, r, (size_t)r->length, err);
    if (!p) {
        return false;
    }
    grow_u8(to, r->op);
    grow_u64(to, r->length);
    grow_put(to, p, (size_t)r->length);
    return !to->failed || reel_fail_memory(err);
}

static bool count_record(struct ending *e, struct mcap_records *walk, const struct mcap_record *r,
                         struct reel_error *err) {
    const uint8_t *p = NULL;
    if (r->op == MCAP_SCHEMA || r->op == MCAP_CHANNEL) {
        return keep_definition(e, walk, r, err);
    }
    if (r->op == MCAP_CHUNK && r->length >= CHUNK_FIXED) {
        if (!(p = mcap_records_view(walk, r, 16, err))) {
            return false;
        }
        uint64_t start = load_u64le(p), end = load_u64le(p + 8);
        e->start_ns = e->chunks == 0 || start < e->start_ns ? start : e->start_ns;
        e->end_ns = end > e->end_ns ? end : e->end_ns;
        e->chunks++;
    } else if (r->op == MCAP_MESSAGE_INDEX && r->length >= 6) {
        if (!(p = mcap_records_view(walk, r, 6, err))) {
            return false;
        }
        uint32_t channel = load_u16le(p);
        uint64_t entries = load_u32le(p + 2) / MCAP_MESSAGE_INDEX_ENTRY;
        e->messages += entries;
        if (channel > 0 && channel <= e->m->base.n_channels) {
            e->counts[channel - 1] += entries;
        }
    }
    return true;
}

static bool walk_file(struct ending *e,
                      bool (*take)(struct ending *, struct mcap_records *, const struct mcap_record *,
                                   struct reel_error *),
                      struct reel_error *err) {
    AUTO_STRUCT(mcap_records_close) struct mcap_records walk;
    struct reel_error why = {0};
    struct mcap_record r;
    if (!mcap_records_open(&walk, e->m->base.fd, e->data_end, err)) {
        return false;
    }
    while (mcap_records_next(&walk, &r, &why)) {
        if (!take(e, &walk, &r, err)) {
            return false;
        }
    }
    return why.code == REEL_OK || reel_error_pass(err, &why);
}

/* ---- the summary */

static bool put_definitions(struct ending *e, struct reel_error *err) {
    for (int i = 0; i < 2; i++) {
        grow_put(&e->out, e->definitions[i].data, e->definitions[i].size);
    }
    return put_out(e, err);
}

static bool mcap_record_end_put_statistics(struct ending *e, struct reel_error *err) {
    uint32_t used = 0, n = e->m->base.n_channels;
    for (uint32_t i = 0; i < n; i++) {
        used += e->counts[i] > 0;
    }
    mcap_record_end_put_record(e, MCAP_STATISTICS, 8 + 2 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + (uint64_t)used * (2 + 8));
    grow_u64(&e->out, e->messages);
    mcap_put_u16(&e->out, (uint16_t)e->m->n_schemas);
    grow_u32(&e->out, n);
    grow_u32(&e->out, 0); /* attachments */
    grow_u32(&e->out, 0); /* metadata */
    grow_u32(&e->out, (uint32_t)e->chunks);
    grow_u64(&e->out, e->start_ns);
    grow_u64(&e->out, e->end_ns);
    grow_u32(&e->out, used * (2 + 8));
    for (uint32_t i = 0; i < n; i++) {
        if (e->counts[i] > 0) {
            mcap_put_u16(&e->out, mcap_id(i));
            grow_u64(&e->out, e->counts[i]);
        }
    }
    return put_out(e, err);
}

/* The chunk whose index is being collected. */
struct chunk_index {
    struct ending *e;
    struct mcap_record chunk;
    uint64_t start_ns, end_ns, raw, stored, indexes;
    uint8_t compression[8];
    uint32_t name;
    struct grow offsets; /* of its MessageIndex records: u16 channel, u64 offset */
    bool open;
};

static bool put_chunk_index(struct chunk_index *c, struct reel_error *err) {
    struct ending *e = c->e;
    if (!c->open) {
        return true;
    }
    c->open = false;
    mcap_record_end_put_record(e, MCAP_CHUNK_INDEX, 4 * 8 + 4 + (uint64_t)c->offsets.size + 8 + 4 + c->name + 8 + 8);
    grow_u64(&e->out, c->start_ns);
    grow_u64(&e->out, c->end_ns);
    grow_u64(&e->out, c->chunk.at);
    grow_u64(&e->out, MCAP_RECORD_HEAD + c->chunk.length);
    grow_u32(&e->out, (uint32_t)c->offsets.size);
    grow_put(&e->out, c->offsets.data, c->offsets.size);
    grow_u64(&e->out, c->indexes);
    grow_u32(&e->out, c->name);
    grow_put(&e->out, c->compression, c->name);
    grow_u64(&e->out, c->stored);
    grow_u64(&e->out, c->raw);
    enum { PIECE = 1 << 20 };
    return e->out.size < PIECE || put_out(e, err);
}

static bool mcap_record_end_take_chunk(struct chunk_index *c, struct mcap_records *walk, const struct mcap_record *r,
                                       struct reel_error *err) {
    const uint8_t *p = mcap_records_view(walk, r, CHUNK_FIXED, err);
    if (!p) {
        return false;
    }
    c->chunk = *r;
    c->start_ns = load_u64le(p);
    c->end_ns = load_u64le(p + 8);
    c->raw = load_u64le(p + 16);
    c->name = load_u32le(p + 28);
    if (c->name > sizeof c->compression || r->length < CHUNK_FIXED + (uint64_t)c->name) {
        return true; /* damaged: gets no index */
    }
    if (!(p = mcap_records_view(walk, r, CHUNK_FIXED + c->name, err))) {
        return false;
    }
    memcpy(c->compression, p + 32, c->name);
    c->stored = r->length - CHUNK_FIXED - c->name;
    c->offsets.size = 0;
    c->indexes = 0;
    c->open = true;
    return true;
}

static bool index_record(struct chunk_index *c, struct mcap_records *walk, const struct mcap_record *r,
                         struct reel_error *err) {
    if (r->op == MCAP_MESSAGE_INDEX && c->open && r->length >= 2) {
        const uint8_t *p = mcap_records_view(walk, r, 2, err);
        if (!p) {
            return false;
        }
        mcap_put_u16(&c->offsets, load_u16le(p));
        grow_u64(&c->offsets, r->at);
        c->indexes += MCAP_RECORD_HEAD + r->length;
        return !c->offsets.failed || reel_fail_memory(err);
    }
    return put_chunk_index(c, err) &&
           (r->op != MCAP_CHUNK || r->length < CHUNK_FIXED || mcap_record_end_take_chunk(c, walk, r, err));
}

static bool put_chunk_indexes(struct ending *e, struct reel_error *err) {
    AUTO_STRUCT(mcap_records_close) struct mcap_records walk;
    struct chunk_index c = {.e = e};
    struct reel_error why = {0};
    struct mcap_record r;
    bool good = mcap_records_open(&walk, e->m->base.fd, e->data_end, err);
    while (good && mcap_records_next(&walk, &r, &why)) {
        good = index_record(&c, &walk, &r, err);
    }
    good = good && (why.code == REEL_OK || reel_error_pass(err, &why)) && put_chunk_index(&c, err) && put_out(e, err);
    free(c.offsets.data);
    return good;
}

static void put_offset(struct ending *e, enum mcap_op op, uint64_t at, uint64_t end) {
    if (end > at) {
        mcap_record_end_put_record(e, MCAP_SUMMARY_OFFSET, 1 + 8 + 8);
        grow_u8(&e->out, (uint8_t)op);
        grow_u64(&e->out, at);
        grow_u64(&e->out, end - at);
    }
}

static bool put_footer(struct ending *e, const uint64_t at[4], struct reel_error *err) {
    static const enum mcap_op ops[4] = {MCAP_SCHEMA, MCAP_CHANNEL, MCAP_STATISTICS, MCAP_CHUNK_INDEX};
    uint64_t offsets_at = e->m->base.pos;
    for (int i = 0; i < 4; i++) {
        put_offset(e, ops[i], at[i], i < 3 ? at[i + 1] : offsets_at);
    }
    mcap_record_end_put_record(e, MCAP_FOOTER, 8 + 8 + 4);
    grow_u64(&e->out, at[0]);
    grow_u64(&e->out, offsets_at);
    if (!put_out(e, err)) {
        return false;
    }
    grow_u32(&e->out, e->crc);
    grow_put(&e->out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
    return put_out(e, err);
}

bool mcap_recorder_finish(struct reel_recorder *r, struct reel_error *err) {
    AUTO_STRUCT(ending_done) struct ending e = {.m = (struct mcap_recorder *)r, .data_end = r->pos};
    uint64_t at[4]; /* of schemas, channels, statistics, chunk indexes */
    e.counts = calloc((size_t)r->n_channels + 1, sizeof *e.counts);
    if (!e.counts) {
        return reel_fail_memory(err);
    }
    if (!walk_file(&e, count_record, err)) {
        return false;
    }
    mcap_record_end_put_record(&e, MCAP_DATA_END, 4);
    grow_u32(&e.out, 0);
    if (!put_out(&e, err)) {
        return false;
    }
    e.crc = 0;
    at[0] = r->pos;
    at[1] = at[0] + e.definitions[0].size;
    if (!put_definitions(&e, err)) {
        return false;
    }
    at[2] = r->pos;
    if (!mcap_record_end_put_statistics(&e, err)) {
        return false;
    }
    at[3] = r->pos;
    return put_chunk_indexes(&e, err) && put_footer(&e, at, err);
}
