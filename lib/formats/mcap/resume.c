/* Finds where the walk goes on after bytes that are not a record. The search passes over each byte once, so its time is
 * linear in the size of the file. */
#include "base/bytes.h"
#include "formats/mcap/read.h"

/* The least size of each kind of record: its fields, with empty texts and maps. */
static const uint8_t least[] = {
    [MCAP_HEADER] = 8,          [MCAP_FOOTER] = 20,
    [MCAP_SCHEMA] = 14,         [MCAP_CHANNEL] = 16,
    [MCAP_MESSAGE] = 22,        [MCAP_CHUNK] = 40,
    [MCAP_MESSAGE_INDEX] = 6,   [MCAP_CHUNK_INDEX] = 64,
    [MCAP_ATTACHMENT] = 36,     [MCAP_ATTACHMENT_INDEX] = 48,
    [MCAP_STATISTICS] = 46,     [MCAP_METADATA] = 8,
    [MCAP_METADATA_INDEX] = 20, [MCAP_SUMMARY_OFFSET] = 17,
    [MCAP_DATA_END] = 4,
};

bool mcap_plausible(uint8_t op, uint64_t length, uint64_t left) {
    return op > 0 && length <= left && (op > MCAP_DATA_END || length >= least[op]);
}

/* True when a known record is at `at`, followed by another one or by the end of the file. */
static bool record_at(struct mcap *m, uint64_t at, const uint8_t *p, bool *is, struct reel_error *err) {
    uint64_t size = m->source->size, length = load_u64le(p + 1), left = size - at - MCAP_RECORD_HEAD;
    *is = p[0] <= MCAP_DATA_END && mcap_plausible(p[0], length, left);
    if (!*is || length == left || p[0] == MCAP_FOOTER) {
        return true;
    }
    uint64_t next = at + MCAP_RECORD_HEAD + length;
    if (size - next < MCAP_RECORD_HEAD) {
        *is = false;
        return true;
    }
    if (!(p = window_at(&m->peek, next, MCAP_RECORD_HEAD, err))) {
        return false;
    }
    *is = p[0] > 0 && p[0] <= MCAP_DATA_END && mcap_plausible(p[0], load_u64le(p + 1), size - next - MCAP_RECORD_HEAD);
    return true;
}

/* Finds the next position from `at` on where a record may begin, or the end of the file. */
static bool mcap_search(struct mcap *m, uint64_t at, uint64_t *found, struct reel_error *err) {
    uint64_t size = m->source->size;
    while (size - at >= MCAP_RECORD_HEAD) {
        if (!mcap_progress(m, at, err)) {
            return false;
        }
        size_t held = window_held(&m->window, at);
        held = held >= MCAP_RECORD_HEAD        ? held
               : size - at < REEL_WINDOW_BYTES ? (size_t)(size - at)
                                               : REEL_WINDOW_BYTES;
        const uint8_t *p = window_at(&m->window, at, held, err);
        if (!p) {
            return false;
        }
        for (size_t i = 0; i + MCAP_RECORD_HEAD <= held; i++, at++) {
            bool is = p[i] > 0 && p[i] <= MCAP_DATA_END && p[i + 7] == 0 && p[i + 8] == 0; /* the upper bytes of a
                                                                                              length are zero: no file
                                                                                              has 2^48 bytes */
            if (is && !record_at(m, at, p + i, &is, err)) {
                return false;
            }
            if (is) {
                *found = at;
                return true;
            }
        }
    }
    *found = size;
    return true;
}

bool mcap_resume(struct mcap *m, const char *why, uint64_t skip, struct reel_error *err) {
    uint64_t to, from = m->at;
    mcap_end_message_indexes(m);
    if (!mcap_search(m, from + skip, &to, err)) {
        return false;
    }
    bool to_end = to == m->source->size;
    enum reel_severity severity = m->in_summary ? REEL_WARNING : REEL_LOSS; /* the summary only repeats what was read
                                                                               before */
    reel_scan_finding(m->scan, severity, m->part, from, to - from, "record at %llu: %s; %s", (unsigned long long)from,
                      why, to_end ? "no record follows" : "continued after it");
    m->at = to;
    return mcap_cover(m, to, err);
}
