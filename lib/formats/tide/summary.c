/* The summary of a TIDE log: block heads and the index, without messages. It reads the head of every block (12 bytes,
 * of CHNK 25 and of INDX 8 more), the blocks CHAN, TYPE and META, and the rows of INDX blocks; when there are more than
 * SUMMARY_ROWS_MAX rows, only their number counts and every channel has the times of the recording. Messages are
 * counted from the chunks. The index only assigns them to channels, and must have as many of them and the same first
 * and last time; otherwise there is no summary. */
#include "formats/tide/container.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"

enum {
    OUTLINE_BLOCKS_MAX = 1 << 20,
    SUMMARY_ROWS_MAX = 4 << 20, /* 80 MiB */
    ROWS_AT_ONCE = 3200,
};

static bool refuse_block(const struct tide_block *b, const char *why, struct reel_error *err) {
    return reel_fail(err, REEL_UNSUPPORTED, "block %.4s at %llu: %s: the contents are unknown until a scan",
                     (const char *)b->name, (unsigned long long)b->at, why);
}

/* ---- blocks ---- */

static bool tide_take_chunk(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    struct tide_summary *o = t->summary;
    uint64_t body = b->at + TIDE_BLOCK_HEAD, size = b->end - body;
    if (size < TIDE_CHUNK_HEAD) {
        return refuse_block(b, "it is truncated", err);
    }
    const uint8_t *p = window_at(&t->data, body, TIDE_CHUNK_HEAD, err);
    if (!p) {
        return false;
    }
    uint32_t count = load_u32le(p + TIDE_CHUNK_COUNT_AT);
    uint64_t start = load_u64le(p + TIDE_CHUNK_START_AT), end = load_u64le(p + TIDE_CHUNK_END_AT);
    uint64_t room = (size - TIDE_CHUNK_HEAD) / TIDE_ENTRY_HEAD;
    uint8_t compression = p[TIDE_CHUNK_COMPRESSION_AT];
    if (compression > TIDE_BZIP2 || (compression == TIDE_PLAIN && (count > room || (count == 0 && room > 0)))) {
        return refuse_block(b, "its number of messages is missing", err);
    }
    if (count == 0) {
        return true;
    }
    if (start > end) {
        return refuse_block(b, "it ends before it starts", err);
    }
    o->start_ns = o->messages == 0 || start < o->start_ns ? start : o->start_ns;
    o->end_ns = o->messages == 0 || end > o->end_ns ? end : o->end_ns;
    o->messages += count;
    return true;
}

/* Rows are read later, because the CHAN block may follow the index. */
static bool tide_take_index(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    struct tide_summary *o = t->summary;
    uint64_t body = b->at + TIDE_BLOCK_HEAD, size = b->end - body;
    if (size < TIDE_INDEX_HEAD) {
        return refuse_block(b, "it is truncated", err);
    }
    const uint8_t *p = window_at(&t->data, body, TIDE_INDEX_HEAD, err);
    if (!p) {
        return false;
    }
    struct tide_index x = {.rows_at = body + TIDE_INDEX_HEAD, .channel = load_u32le(p), .rows = load_u32le(p + 4)};
    if (x.rows > (size - TIDE_INDEX_HEAD) / TIDE_INDEX_ROW) {
        return refuse_block(b, "some of its rows are missing", err);
    }
    if (!GROW_ARRAY(o->indexes, o->n_indexes, o->cap_indexes)) {
        return reel_fail_memory(err);
    }
    o->indexes[o->n_indexes++] = x;
    o->rows += x.rows;
    return true;
}

static bool tide_take(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    switch (b->tag) {
    case TIDE_CHNK:
        return tide_take_chunk(t, b, err);
    case TIDE_INDX:
        return tide_take_index(t, b, err);
    case TIDE_CHAN:
    case TIDE_TYPE:
    case TIDE_META:
        return tide_read_description(t, b, err) && (t->lost == 0 || refuse_block(b, "it is damaged", err));
    default:
        return true;
    }
}

/* ---- the index ---- */

/* Smallest and largest time of the rows of `x`. */
static bool row_times(struct tide *t, const struct tide_index *x, uint8_t *buffer, uint64_t *first, uint64_t *last,
                      struct reel_error *err) {
    const size_t time_at = t->is_new ? 8 : 4;
    *first = UINT64_MAX;
    *last = 0;
    for (uint64_t row = 0; row < x->rows;) {
        size_t n = x->rows - row < ROWS_AT_ONCE ? (size_t)(x->rows - row) : ROWS_AT_ONCE;
        if (!reel_source_read(t->source, x->rows_at + row * TIDE_INDEX_ROW, buffer, n * TIDE_INDEX_ROW, err)) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            uint64_t time = load_u64le(buffer + i * TIDE_INDEX_ROW + time_at);
            *first = time < *first ? time : *first;
            *last = time > *last ? time : *last;
        }
        row += n;
        t->summary->taken += n;
        if (!reel_scan_progress(t->scan, t->summary->taken, t->summary->rows, err)) {
            return false;
        }
    }
    return true;
}

static int64_t model_time(uint64_t time_ns) {
    return time_ns > INT64_MAX ? INT64_MAX : (int64_t)time_ns;
}

static bool count_index(struct tide *t, const struct tide_index *x, uint8_t *buffer, struct reel_error *err) {
    struct tide_summary *o = t->summary;
    const struct tide_channel *c = tide_find(t, x->channel);
    uint64_t first = o->start_ns, last = o->end_ns;
    if (!c) {
        return reel_fail(
            err, REEL_UNSUPPORTED,
            "the index refers to channel %u, which has no block CHAN: its messages are unknown until a scan",
            x->channel);
    }
    if (buffer && !row_times(t, x, buffer, &first, &last, err)) {
        return false;
    }
    o->first_ns = first < o->first_ns ? first : o->first_ns;
    o->last_ns = last > o->last_ns ? last : o->last_ns;
    return reel_scan_count(
        t->scan, c->model,
        &(struct reel_channel_stats){.count = x->rows, .first_ns = model_time(first), .last_ns = model_time(last)},
        err);
}

static bool tide_count_all(struct tide *t, struct reel_error *err) {
    struct tide_summary *o = t->summary;
    if (o->rows != o->messages) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "the index has %llu messages, the chunks state %llu: their number is unknown until a scan",
                         (unsigned long long)o->rows, (unsigned long long)o->messages);
    }
    AUTO_MEM uint8_t *buffer = malloc(ROWS_AT_ONCE * TIDE_INDEX_ROW);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    o->first_ns = UINT64_MAX;
    for (size_t i = 0; i < o->n_indexes; i++) {
        if (o->indexes[i].rows > 0 &&
            !count_index(t, &o->indexes[i], o->rows <= SUMMARY_ROWS_MAX ? buffer : NULL, err)) {
            return false;
        }
    }
    return o->messages == 0 || (o->first_ns == o->start_ns && o->last_ns == o->end_ns) ||
           reel_fail(err, REEL_UNSUPPORTED, "the index has other times than the chunks: they are unknown until a scan");
}

bool tide_summary(struct reel_scan *scan, struct reel_error *err) {
    struct tide_summary o = {.blocks_left = OUTLINE_BLOCKS_MAX};
    struct tide t = {.summary = &o};
    bool good = tide_log_open(&t, scan, TIDE_BLOCK_HEAD, TIDE_CHUNK_HEAD, err) &&
                tide_walk(&t, false, tide_take, err) && tide_report_channels(&t, err) && tide_count_all(&t, err);
    free(o.indexes);
    tide_log_close(&t);
    return good;
}
