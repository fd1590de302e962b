/* The summary of an MCAP file, without a scan. It reads the header and the definitions right after it, the footer, the
 * summary section, and the Metadata records that the metadata indexes list. It reports only what the scan of an
 * undamaged file reports too; a file without statistics, or with an inconsistent summary section, has no summary. The
 * times of a channel are those of the chunks with message indexes for it, or those of the recording where that is
 * unknown. Channels are in the order of these definitions, then of the summary's. Attachments are reported when the
 * indexes list all of them; without any index they are left out. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/mcap/read.h"

typedef unsigned long long ull;

enum {
    SUMMARY_WINDOW = 64 << 10,
    HEAD_MAX = 4 << 20,          /* most bytes of definitions that are read after the header */
    SUMMARY_HELD_MAX = 16 << 20, /* a summary up to this size is read once, a larger one three times: CRC, definitions,
                                    the rest */
    SUMMARY_MAX_MIB = 256,       /* enough for about a million chunks of twenty channels */
    COUNT_ENTRY = 2 + 8,         /* size of an entry in the maps of Statistics and ChunkIndex */
};

struct span {
    uint64_t first, last; /* first > last: empty */
};

struct summary {
    uint64_t statistics, chunks, attachments, metadata;  /* number of records read */
    uint64_t attachment_at, metadata_at, metadata_bytes; /* position of the last one; total size */
    uint64_t raw;                                        /* most bytes that the chunks can unpack to */
    uint64_t start_ns, end_ns;                           /* of all chunks */
    uint64_t any_first, any_last; /* of chunks without message indexes, which may hold any channel */
    struct span *spans;           /* by channel: of the chunks with message indexes for it */
    size_t n_spans;
};

static void summary_done(struct summary *o) {
    free(o->spans);
    *o = (struct summary){0};
}

static void mcap_widen(uint64_t *first, uint64_t *last, uint64_t from, uint64_t to) {
    *first = from < *first ? from : *first;
    *last = to > *last ? to : *last;
}

/* The span of a channel; NULL: no memory. */
static struct span *mcap_span_of(struct summary *o, uint16_t id) {
    if (id >= o->n_spans) {
        size_t n = (size_t)id + 1 > 2 * o->n_spans ? (size_t)id + 1 : 2 * o->n_spans;
        struct span *spans = realloc(o->spans, n * sizeof *spans);
        if (!spans) {
            return NULL;
        }
        o->spans = spans;
        while (o->n_spans < n) {
            spans[o->n_spans++] = (struct span){.first = UINT64_MAX};
        }
    }
    return &o->spans[id];
}

/* Reads the header and the schemas and channels after it, as the walk does. */
static bool mcap_summary_read_head(struct mcap *m, struct reel_error *err) {
    uint64_t size = m->source->size;
    while (m->at < HEAD_MAX && size - m->at >= MCAP_RECORD_HEAD) {
        const uint8_t *p = window_at(&m->window, m->at, MCAP_RECORD_HEAD, err);
        if (!p) {
            return false;
        }
        uint8_t op = p[0];
        uint64_t length = load_u64le(p + 1);
        bool header = m->at == MCAP_MAGIC_SIZE;
        if (header != (op == MCAP_HEADER) || (!header && op != MCAP_SCHEMA && op != MCAP_CHANNEL)) {
            return !header || reel_fail(err, REEL_DAMAGED, "the file does not begin with a header");
        }
        if (!mcap_plausible(op, length, size - m->at - MCAP_RECORD_HEAD) || length > HEAD_MAX) {
            return reel_fail(err, REEL_DAMAGED, "the record at %llu is none", (ull)m->at);
        }
        if (!(p = window_at(&m->window, m->at + MCAP_RECORD_HEAD, (size_t)length, err)) ||
            !mcap_take_small(m, op, bytes_of(p, (size_t)length), err)) {
            return false;
        }
        m->at += MCAP_RECORD_HEAD + length;
    }
    return true;
}

/* ---- index records ---- */

/* True when these bytes are before the summary and after `after`. */
static bool is_before_summary(const struct mcap *m, uint64_t after, uint64_t at, uint64_t length) {
    return at > after && at < m->summary_start && length <= m->summary_start - at;
}

static bool take_chunk_index(struct mcap *m, struct summary *o, struct reel_bytes content, struct reel_error *err) {
    struct mcap_chunk_index is;
    if (!mcap_read_chunk_index(content, &is) || !is_before_summary(m, 0, is.at, is.length) || is.stored > is.length ||
        is.start_ns > is.end_ns || is.indexes.size % COUNT_ENTRY != 0) {
        return reel_fail(err, REEL_DAMAGED, "the chunk index at %llu does not refer to a possible chunk", (ull)m->at);
    }
    const uint64_t most = (uint64_t)REEL_CHUNK_RAW_MAX_MIB << 20;
    o->chunks++;
    o->raw += is.raw < most ? is.raw : most;
    mcap_widen(&o->start_ns, &o->end_ns, is.start_ns, is.end_ns);
    if (is.indexes.size == 0) {
        mcap_widen(&o->any_first, &o->any_last, is.start_ns, is.end_ns);
    }
    for (struct cursor c = cursor_of(is.indexes); !cursor_done(&c); cursor_u64le(&c)) {
        struct span *span = mcap_span_of(o, cursor_u16le(&c));
        if (!span) {
            return reel_fail_memory(err);
        }
        mcap_widen(&span->first, &span->last, is.start_ns, is.end_ns);
    }
    return true;
}

static bool take_attachment_index(struct mcap *m, struct summary *o, struct reel_bytes content,
                                  struct reel_error *err) {
    struct mcap_attachment_index is;
    if (!mcap_read_attachment_index(content, &is) || !is_before_summary(m, o->attachment_at, is.at, is.length)) {
        return reel_fail(err, REEL_DAMAGED, "the attachment index at %llu does not refer to a possible attachment",
                         (ull)m->at);
    }
    o->attachments++;
    o->attachment_at = is.at;
    return mcap_indexed_attachment(m, &is, err);
}

static bool take_metadata_index(struct mcap *m, struct summary *o, struct reel_bytes content, struct reel_error *err) {
    struct mcap_metadata_index is;
    if (!mcap_read_metadata_index(content, &is) || !is_before_summary(m, o->metadata_at, is.at, is.length)) {
        return reel_fail(err, REEL_DAMAGED, "the metadata index at %llu does not refer to a possible record",
                         (ull)m->at);
    }
    if (is.length > MCAP_RECORD_MAX - o->metadata_bytes) {
        return reel_fail(err, REEL_LIMIT, "the metadata has more than the %d bytes that a summary reads",
                         MCAP_RECORD_MAX);
    }
    o->metadata++;
    o->metadata_at = is.at;
    o->metadata_bytes += is.length;
    return mcap_indexed_metadata(m, &is, err);
}

static bool mcap_summary_take_record(struct mcap *m, struct summary *o, uint8_t op, struct reel_bytes content,
                                     struct reel_error *err) {
    switch (op) {
    case MCAP_STATISTICS:
        o->statistics++;
        return mcap_take_statistics(m, content, err);
    case MCAP_CHUNK_INDEX:
        return take_chunk_index(m, o, content, err);
    case MCAP_ATTACHMENT_INDEX:
        return take_attachment_index(m, o, content, err);
    case MCAP_METADATA_INDEX:
        return take_metadata_index(m, o, content, err);
    default:
        return true;
    }
}

static bool read_summary(struct mcap *m, struct summary *o, struct reel_error *err) {
    for (m->at = m->summary_start; m->at < m->footer_at;) {
        const uint8_t *p = mcap_progress(m, m->at, err) ? window_at(&m->window, m->at, MCAP_RECORD_HEAD, err)
                                                        : NULL; /* the footer is longer */
        if (!p) {
            return false;
        }
        uint8_t op = p[0];
        uint64_t length = load_u64le(p + 1), left = m->footer_at - m->at;
        bool known = op <= MCAP_DATA_END;
        if (left < MCAP_RECORD_HEAD || !mcap_plausible(op, length, left - MCAP_RECORD_HEAD) ||
            (known && length > MCAP_RECORD_MAX)) {
            return reel_fail(err, REEL_DAMAGED, "the record at %llu of the summary is none", (ull)m->at);
        }
        if (known && (!(p = window_at(&m->window, m->at + MCAP_RECORD_HEAD, (size_t)length, err)) ||
                      !mcap_summary_take_record(m, o, op, bytes_of(p, (size_t)length), err))) {
            return false;
        }
        m->at += MCAP_RECORD_HEAD + length;
    }
    return true;
}

/* Compares the statistics with the summary and with what is possible. */
static bool check_statistics(const struct mcap *m, struct summary *o, const struct mcap_statistics *is,
                             struct reel_error *err) {
    if (is->channels != m->names->n_channels) {
        return reel_fail(err, REEL_DAMAGED, "the statistics count %u channels, the summary has %u", is->channels,
                         m->names->n_channels);
    }
    if ((o->chunks > 0 && o->chunks != is->chunks) || is->chunks > m->source->size / MCAP_CHUNK_HEAD ||
        (o->attachments > 0 && o->attachments != is->attachments) || o->metadata != is->metadata) {
        return reel_fail(
            err, REEL_DAMAGED,
            "the statistics count %u chunks, %u attachments, %u metadata records; indexed are %llu, %llu, %llu",
            is->chunks, is->attachments, is->metadata, (ull)o->chunks, (ull)o->attachments, (ull)o->metadata);
    }
    if (is->messages > 0 && (is->start_ns > is->end_ns || is->end_ns > INT64_MAX)) {
        return reel_fail(err, REEL_DAMAGED, "the times in the statistics are not valid");
    }
    if (o->chunks == 0) { /* not indexed: every record may have the largest possible size */
        o->raw = is->chunks * ((uint64_t)REEL_CHUNK_RAW_MAX_MIB << 20);
    }
    return is->messages <= (o->raw + m->source->size) / MCAP_MESSAGE_HEAD ||
           reel_fail(err, REEL_DAMAGED, "the file is too small for the %llu messages in the statistics",
                     (ull)is->messages);
}

/* The times of a channel, at most those of the recording. */
static struct reel_channel_stats stats_of(const struct summary *o, uint16_t id, uint64_t count,
                                          const struct mcap_statistics *is) {
    uint64_t first = o->any_first, last = o->any_last;
    bool by_chunk = o->start_ns == is->start_ns && o->end_ns == is->end_ns; /* otherwise there are messages outside of
                                                                               these chunks */
    if (id < o->n_spans) {
        mcap_widen(&first, &last, o->spans[id].first, o->spans[id].last);
    }
    by_chunk &= first <= last;
    first = by_chunk && first > is->start_ns ? first : is->start_ns;
    last = by_chunk && last < is->end_ns ? last : is->end_ns;
    return (struct reel_channel_stats){.count = count, .first_ns = (int64_t)first, .last_ns = (int64_t)last};
}

static bool count_messages(struct mcap *m, struct summary *o, struct reel_error *err) {
    struct mcap_statistics is;
    if (o->statistics != 1 || !mcap_read_statistics(m->statistics, &is) || is.counts.size % COUNT_ENTRY != 0) {
        return reel_fail(err, REEL_DAMAGED, "the file has %s statistics", o->statistics == 0 ? "no" : "no sound");
    }
    if (!check_statistics(m, o, &is, err)) {
        return false;
    }
    uint64_t left = is.messages, first = UINT64_MAX, last = 0;
    for (struct cursor c = cursor_of(is.counts); !cursor_done(&c);) {
        uint16_t id = cursor_u16le(&c);
        uint64_t count = cursor_u64le(&c);
        if (count == 0) {
            continue;
        }
        if (count > left || mcap_model_of_id(m->names, id) == MCAP_NO_MODEL) {
            return reel_fail(err, REEL_DAMAGED, "the statistics count %llu messages of channel %u, which cannot be",
                             (ull)count, id);
        }
        const struct reel_channel_stats stats = stats_of(o, id, count, &is);
        mcap_widen(&first, &last, (uint64_t)stats.first_ns, (uint64_t)stats.last_ns);
        left -= count;
        if (!reel_scan_count(m->scan, mcap_model_of_id(m->names, id), &stats, err)) {
            return false;
        }
    }
    bool whole = is.messages == 0 || (left == 0 && first == is.start_ns && last == is.end_ns);
    return whole || reel_fail(err, REEL_DAMAGED,
                              "the statistics do not agree with themselves, or the chunks' times not with them");
}

static bool summary_part(struct mcap *m, uint32_t part, struct summary *o, struct reel_error *err) {
    summary_done(o);
    o->start_ns = o->any_first = UINT64_MAX;
    if (!mcap_begin_part(m, part, err) || !mcap_summary_read_head(m, err) || !mcap_find_footer(m, err)) {
        return false;
    }
    uint64_t size = m->footer_at - m->summary_start;
    if (m->footer_at == 0 || m->summary_start == 0 || size == 0) {
        return reel_fail(err, REEL_DAMAGED,
                         m->footer_at == 0 ? "the file does not end with a footer" : "the file has no summary");
    }
    if (size >> 20 >= SUMMARY_MAX_MIB) {
        return reel_fail(err, REEL_DAMAGED, "the summary has more than the %d MiB that a summary reads",
                         SUMMARY_MAX_MIB);
    }
    size = m->source->size - m->summary_start; /* with the footer, which the CRC covers too */
    if ((size <= SUMMARY_HELD_MAX && !window_at(&m->window, m->summary_start, (size_t)size, err)) ||
        !mcap_read_ahead(m, err)) {
        return false;
    }
    if (m->summary_changed) {
        return reel_fail(err, REEL_DAMAGED, "the summary's CRC does not hold");
    }
    return read_summary(m, o, err) && mcap_names_of_summary(m, err) && count_messages(m, o, err);
}

bool mcap_summary(struct reel_scan *scan, struct reel_error *err) {
    AUTO_STRUCT(mcap_walk_close) struct mcap m;
    AUTO_STRUCT(summary_done) struct summary o = {0};
    if (!mcap_walk_open(&m, scan, SUMMARY_WINDOW, err)) {
        return false;
    }
    reel_scan_container(scan, "MCAP0");
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        struct reel_error why = {0};
        if (!summary_part(&m, i, &o, &why)) {
            bool unclear = why.code == REEL_DAMAGED || why.code == REEL_LIMIT; /* damage in the summary; the file itself
                                                                                  is judged by the scan */
            why.code = unclear ? REEL_UNSUPPORTED : why.code;
            reel_error_pass(err, &why);
            return scan->n_parts == 1 ? false : reel_error_at(err, "%s", scan->parts[i]->name);
        }
    }
    return true;
}
