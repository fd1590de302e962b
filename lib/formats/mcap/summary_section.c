/* Reads an MCAP file's CRCs, statistics and indexes, and compares them with what the walk has found. Only definitions
 * are taken from the summary, for channels that the data section does not define. */
#include "base/bytes.h"
#include "formats/mcap/read.h"

/* ---- looking ahead ---- */

/* Finds the footer at the end of the file, and whether the data section has a CRC to check. */
bool mcap_find_footer(struct mcap *m, struct reel_error *err) {
    uint64_t size = m->source->size;
    m->crc_needed = false;
    if (size < MCAP_MAGIC_SIZE + MCAP_FOOTER_SIZE + MCAP_MAGIC_SIZE) {
        return true;
    }
    uint64_t at = size - MCAP_MAGIC_SIZE - MCAP_FOOTER_SIZE;
    const uint8_t *p = window_at(&m->peek, at, MCAP_FOOTER_SIZE + MCAP_MAGIC_SIZE, err);
    if (!p) {
        return false;
    }
    if (p[0] != MCAP_FOOTER || load_u64le(p + 1) != MCAP_FOOTER_SIZE - MCAP_RECORD_HEAD ||
        memcmp(p + MCAP_FOOTER_SIZE, MCAP_MAGIC, MCAP_MAGIC_SIZE) != 0) {
        return true;
    }
    m->footer_at = at;
    m->summary_start = load_u64le(p + MCAP_RECORD_HEAD);
    if (m->summary_start == 0) {
        m->summary_start = at; /* no summary: an empty one would be here */
    }
    m->crc_needed = true;
    if (m->summary_start < MCAP_MAGIC_SIZE + MCAP_DATA_END_SIZE || m->summary_start > at) {
        m->summary_start = 0;
        return true;
    }
    if (!(p = window_at(&m->peek, m->summary_start - MCAP_DATA_END_SIZE, MCAP_DATA_END_SIZE, err))) {
        return false;
    }
    m->has_data_end = p[0] == MCAP_DATA_END && load_u64le(p + 1) == MCAP_DATA_END_SIZE - MCAP_RECORD_HEAD;
    if (m->has_data_end) {
        m->crc_needed = load_u32le(p + MCAP_RECORD_HEAD) != 0;
    }
    return true;
}

/* Notes the schemas and channels of the summary. The walk reads the other records later. */
static bool note_definitions(struct mcap *m, struct reel_error *err) {
    for (uint64_t at = m->summary_start; at + MCAP_RECORD_HEAD <= m->footer_at;) {
        const uint8_t *p = window_at(&m->window, at, MCAP_RECORD_HEAD, err);
        if (!p) {
            return false;
        }
        uint8_t op = p[0];
        uint64_t length = load_u64le(p + 1);
        if (!mcap_plausible(op, length, m->footer_at - at - MCAP_RECORD_HEAD)) {
            return true;
        }
        if ((op == MCAP_SCHEMA || op == MCAP_CHANNEL) && length <= MCAP_RECORD_MAX) {
            struct reel_error why = {0};
            p = window_at(&m->window, at + MCAP_RECORD_HEAD, (size_t)length, err);
            if (!p) {
                return false;
            }
            if (!mcap_note_summary(m, op, bytes_of(p, (size_t)length), at, &why) && why.code != REEL_DAMAGED) {
                return reel_error_pass(err, &why);
            }
        }
        at += MCAP_RECORD_HEAD + length;
    }
    return true;
}

/* Of another file, which was appended to this one: its positions count from its own beginning. */
static bool is_foreign_footer(const struct mcap *m) {
    return m->summary_start > 0 && m->summary_changed && !m->has_data_end;
}

static bool prove_summary(struct mcap *m, struct reel_error *err) {
    const uint8_t *p = window_at(&m->peek, m->footer_at, MCAP_FOOTER_SIZE, err);
    if (!p) {
        return false;
    }
    uint32_t stated = load_u32le(p + MCAP_FOOTER_CRC_AT), crc = 0;
    uint64_t size = m->footer_at + MCAP_FOOTER_CRC_AT - m->summary_start;
    if (stated == 0) {
        return true;
    }
    if (!mcap_crc(&m->window, m->summary_start, size, &crc, err)) {
        return false;
    }
    m->summary_changed = crc != stated;
    m->summary_crc = crc;
    m->stated_crc = stated;
    return true;
}

bool mcap_read_ahead(struct mcap *m, struct reel_error *err) {
    if (!mcap_find_footer(m, err)) {
        return false;
    }
    if (m->footer_at == 0) {
        return true;
    }
    if (m->summary_start == 0) {
        return reel_scan_finding(m->scan, REEL_WARNING, m->part, m->footer_at, 0,
                                 "the footer says that the summary begins where it cannot");
    }
    return prove_summary(m, err) && (is_foreign_footer(m) || note_definitions(m, err));
}

/* ---- records ---- */

bool mcap_take_data_end(struct mcap *m, struct reel_bytes content, struct reel_error *err) {
    if (m->in_summary) {
        return reel_scan_finding(m->scan, REEL_WARNING, m->part, m->at, 0, "another end of the data section, at %llu",
                                 (unsigned long long)m->at);
    }
    uint32_t stated = load_u32le(content.data);
    if (!mcap_cover(m, m->at, err)) {
        return false;
    }
    m->in_summary = true;
    if (m->crc_needed && stated != 0 && m->crc != stated) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, 0, 0,
                          "the data section's CRC is %08x where %08x is stated: something in it has changed", m->crc,
                          stated);
    }
    return true;
}

bool mcap_take_footer(struct mcap *m, struct reel_bytes content, struct reel_error *err) {
    (void)content;
    (void)err;
    m->ended = true;
    return true;
}

bool mcap_take_statistics(struct mcap *m, struct reel_bytes content, struct reel_error *err) {
    if (m->statistics.size > 0) {
        return reel_scan_finding(m->scan, REEL_WARNING, m->part, m->at, 0, "other statistics, at %llu, are not used",
                                 (unsigned long long)m->at);
    }
    m->statistics = bytes_of(arena_copy(&m->arena, content.data, content.size), content.size);
    m->statistics_at = m->at;
    return m->statistics.data || mcap_no_room(m, err);
}

bool mcap_read_statistics(struct reel_bytes content, struct mcap_statistics *out) {
    struct cursor c = cursor_of(content);
    *out = (struct mcap_statistics){.messages = cursor_u64le(&c)};
    out->schemas = cursor_u16le(&c);
    out->channels = cursor_u32le(&c);
    out->attachments = cursor_u32le(&c);
    out->metadata = cursor_u32le(&c);
    out->chunks = cursor_u32le(&c);
    out->start_ns = cursor_u64le(&c);
    out->end_ns = cursor_u64le(&c);
    out->counts = cursor_string32(&c);
    return !c.failed;
}

bool mcap_read_chunk_index(struct reel_bytes content, struct mcap_chunk_index *out) {
    struct cursor c = cursor_of(content);
    *out = (struct mcap_chunk_index){.start_ns = cursor_u64le(&c)};
    out->end_ns = cursor_u64le(&c);
    out->at = cursor_u64le(&c);
    out->length = cursor_u64le(&c);
    out->indexes = cursor_string32(&c);
    cursor_u64le(&c); /* length of the message indexes: as sum over the map, as stated */
    cursor_string32(&c);
    out->stored = cursor_u64le(&c);
    out->raw = cursor_u64le(&c);
    return !c.failed;
}

bool mcap_read_attachment_index(struct reel_bytes content, struct mcap_attachment_index *out) {
    struct cursor c = cursor_of(content);
    *out = (struct mcap_attachment_index){.at = cursor_u64le(&c)};
    out->length = cursor_u64le(&c);
    out->log_time = cursor_u64le(&c);
    out->create_time = cursor_u64le(&c);
    out->size = cursor_u64le(&c);
    out->name = cursor_string32(&c);
    out->media_type = cursor_string32(&c);
    return !c.failed;
}

bool mcap_read_metadata_index(struct reel_bytes content, struct mcap_metadata_index *out) {
    struct cursor c = cursor_of(content);
    *out = (struct mcap_metadata_index){.at = cursor_u64le(&c)};
    out->length = cursor_u64le(&c);
    out->name = cursor_string32(&c);
    return !c.failed;
}

static bool take_chunk_index(struct mcap *m, struct reel_bytes content) {
    struct mcap_chunk_index is;
    bool good = mcap_read_chunk_index(content, &is);
    struct cursor map = cursor_of(is.indexes);
    m->stated.chunk_indexes++;
    m->stated.chunk_sum += mcap_chunk_hash(is.at, is.length, is.start_ns, is.end_ns, is.stored, is.raw);
    while (!map.failed && !cursor_done(&map)) {
        uint16_t channel = cursor_u16le(&map);
        m->stated.chunk_sum += mix_step(mix_step(is.at, channel), cursor_u64le(&map));
    }
    return good && !map.failed;
}

static bool take_attachment_index(struct mcap *m, struct reel_bytes content) {
    struct mcap_attachment_index is;
    bool good = mcap_read_attachment_index(content, &is);
    m->stated.attachment_indexes++;
    m->stated.attachment_sum +=
        mcap_attachment_hash(is.at, is.length, is.log_time, is.create_time, is.size, hash_bytes(0, is.name));
    return good;
}

static bool take_metadata_index(struct mcap *m, struct reel_bytes content) {
    struct mcap_metadata_index is;
    bool good = mcap_read_metadata_index(content, &is);
    m->stated.metadata_indexes++;
    m->stated.metadata_sum += mix_step(mix_step(is.at, is.length), hash_bytes(0, is.name));
    return good;
}

bool mcap_take_index(struct mcap *m, uint8_t op, struct reel_bytes content, struct reel_error *err) {
    (void)err;
    bool good = op == MCAP_CHUNK_INDEX        ? take_chunk_index(m, content)
                : op == MCAP_ATTACHMENT_INDEX ? take_attachment_index(m, content)
                                              : take_metadata_index(m, content);
    if (!good) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->at, 0, "index record at %llu: its fields do not fit",
                          (unsigned long long)m->at);
    }
    return true;
}

/* ---- comparing ---- */

static void report_difference(struct mcap *m, const char *what, uint64_t stated, uint64_t found) {
    if (stated != found) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->statistics_at, 0,
                          "the statistics say %llu %s, there are %llu", (unsigned long long)stated, what,
                          (unsigned long long)found);
    }
}

static void mcap_compare_messages(struct mcap *m, uint64_t stated) {
    if (stated > m->found.messages) {
        reel_scan_finding(m->scan, REEL_LOSS, m->part, m->statistics_at, 0,
                          "the statistics say %llu messages, %llu were found: %llu are lost",
                          (unsigned long long)stated, (unsigned long long)m->found.messages,
                          (unsigned long long)(stated - m->found.messages));
    } else {
        report_difference(m, "messages", stated, m->found.messages);
    }
}

/* Reports one finding for all channels whose counts differ. */
static void compare_counts(struct mcap *m, struct cursor map) {
    unsigned differ = 0;
    uint16_t first = 0;
    while (!map.failed && !cursor_done(&map)) {
        uint16_t id = cursor_u16le(&map);
        uint64_t count = cursor_u64le(&map);
        first = differ == 0 ? id : first;
        differ += !map.failed && mcap_defined(m->names, id)->messages != count;
    }
    if (differ > 0) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->statistics_at, 0,
                          "the statistics have a wrong number of messages for %u channels, the first is channel %u",
                          differ, first);
    }
}

static void compare_statistics(struct mcap *m) {
    const struct mcap_tally *found = &m->found;
    struct mcap_statistics is;
    if (!mcap_read_statistics(m->statistics, &is)) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->statistics_at, 0, "the statistics' fields do not fit");
        return;
    }
    mcap_compare_messages(m, is.messages);
    report_difference(m, "schemas", is.schemas, m->names->n_schemas);
    report_difference(m, "channels", is.channels, m->names->n_channels);
    report_difference(m, "attachments", is.attachments, found->attachments);
    report_difference(m, "metadata records", is.metadata, found->metadata);
    report_difference(m, "chunks", is.chunks, found->chunks);
    if (is.messages != found->messages) {
        return; /* then these cannot agree either */
    }
    if (is.messages > 0 && (is.start_ns != found->start_ns || is.end_ns != found->end_ns)) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->statistics_at, 0,
                          "the statistics say times %llu to %llu ns, the messages have %llu to %llu",
                          (unsigned long long)is.start_ns, (unsigned long long)is.end_ns,
                          (unsigned long long)found->start_ns, (unsigned long long)found->end_ns);
    }
    compare_counts(m, cursor_of(is.counts));
}

static void compare_index(struct mcap *m, const char *what, uint64_t indexes, uint64_t stated, uint64_t found) {
    if (indexes > 0 && stated != found) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->summary_start, 0,
                          "the indexes of %s in the summary do not match the file: not used", what);
    }
}

void mcap_compare(struct mcap *m) {
    const struct mcap_tally *stated = &m->stated, *found = &m->found;
    if (m->summary_changed && m->follows == 0) { /* else the footer is that of another file */
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->summary_start,
                          m->footer_at + MCAP_FOOTER_CRC_AT - m->summary_start,
                          "the summary's CRC is %08x where %08x is stated", m->summary_crc, m->stated_crc);
    }
    if (m->statistics.size > 0) {
        compare_statistics(m);
    }
    compare_index(m, "chunks", stated->chunk_indexes, stated->chunk_sum, found->chunk_sum);
    compare_index(m, "attachments", stated->attachment_indexes, stated->attachment_sum, found->attachment_sum);
    compare_index(m, "metadata", stated->metadata_indexes, stated->metadata_sum, found->metadata_sum);
}
