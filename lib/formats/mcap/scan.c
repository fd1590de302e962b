/* Scans MCAP files: chunked or not, indexed or not, complete or cut. One walk reads the records of the data section and
 * the summary. Definitions that are missing in the data section are taken from the summary, which is read first. */
#include "formats/mcap/read.h"
#include "formats/mcap/write.h"
#include "index/growing.h"
#include "index/splits.h"

#include "base/bytes.h"
#include "base/cleanup.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRESS_STEP = 4 << 20 };

static int mcap_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    (void)source;
    struct reel_bytes magic = bytes_of(MCAP_MAGIC, MCAP_MAGIC_SIZE);
    if (bytes_start(head, magic)) {
        return 8 * MCAP_MAGIC_SIZE;
    }
    /* another version: recognised here, then refused */
    return head.size >= MCAP_MAGIC_SIZE && bytes_start(head, bytes_of(magic.data, MCAP_MAGIC_VERSION_AT)) &&
                   memcmp(head.data + 6, "\r\n", 2) == 0
               ? 8 * (MCAP_MAGIC_SIZE - 1)
               : 0;
}

void mcap_walk_close(struct mcap *m) {
    mcap_names_free(m->names);
    window_close(&m->window);
    window_close(&m->ahead);
    window_close(&m->inner);
    window_close(&m->peek);
    arena_free(&m->arena);
}

bool mcap_progress(struct mcap *m, uint64_t at, struct reel_error *err) {
    if (at < m->report_at) {
        return true;
    }
    m->report_at = at + PROGRESS_STEP;
    uint64_t total = 0;
    for (uint32_t i = 0; i < m->scan->n_parts; i++) {
        total += m->scan->parts[i]->size;
    }
    return reel_scan_progress(m->scan, m->done_before + at, total, err);
}

bool mcap_crc(struct window *w, uint64_t at, uint64_t size, uint32_t *crc, struct reel_error *err) {
    while (size > 0) {
        size_t piece = window_held(w, at);
        piece = piece > 0 ? piece : REEL_WINDOW_BYTES;
        piece = piece < size ? piece : (size_t)size;
        const uint8_t *p = window_at(w, at, piece, err);
        if (!p) {
            return false;
        }
        *crc = libdeflate_crc32(*crc, p, piece);
        at += piece;
        size -= piece;
    }
    return true;
}

bool mcap_cover(struct mcap *m, uint64_t end, struct reel_error *err) {
    if (!m->crc_needed || end <= m->crc_at) {
        return true;
    }
    bool good = mcap_crc(&m->window, m->crc_at, end - m->crc_at, &m->crc, err);
    m->crc_at = end;
    return good;
}

/* ---- the walk ---- */

static void unknown_record(struct mcap *m, uint8_t op) {
    if (m->unknown_records++ == 0) {
        m->unknown_op = op;
        m->unknown_at = m->at;
    }
}

/* Reads the content of a record. NULL with code REEL_LIMIT: too large, already reported as a finding. */
static const uint8_t *content_of(struct mcap *m, uint64_t length, struct reel_error *err) {
    if (length > MCAP_RECORD_MAX) {
        reel_scan_finding(m->scan, REEL_LOSS, m->part, m->at, length,
                          "record at %llu: %llu bytes, more than the %d that are taken", (unsigned long long)m->at,
                          (unsigned long long)length, MCAP_RECORD_MAX);
        reel_fail(err, REEL_LIMIT, "reported before");
        return NULL;
    }
    return window_at(&m->window, m->at + MCAP_RECORD_HEAD, (size_t)length, err);
}

bool mcap_take_small(struct mcap *m, uint8_t op, struct reel_bytes content, struct reel_error *err) {
    switch (op) {
    case MCAP_HEADER:
        return mcap_take_header(m, content, err);
    case MCAP_SCHEMA:
        return mcap_define_schema(m, content, m->at, err);
    case MCAP_CHANNEL:
        return mcap_define_channel(m, content, m->at, err);
    case MCAP_METADATA:
        return mcap_take_metadata(m, content, err);
    case MCAP_STATISTICS:
        return mcap_take_statistics(m, content, err);
    case MCAP_CHUNK_INDEX:
    case MCAP_ATTACHMENT_INDEX:
    case MCAP_METADATA_INDEX:
        return mcap_take_index(m, op, content, err);
    case MCAP_DATA_END:
        return mcap_take_data_end(m, content, err);
    case MCAP_FOOTER:
        return mcap_take_footer(m, content, err);
    case MCAP_SUMMARY_OFFSET:
        return true;
    default:
        unknown_record(m, op);
        return true;
    }
}

static bool take_small_record(struct mcap *m, uint8_t op, uint64_t length, struct reel_error *err) {
    if (op == 0 || op > MCAP_DATA_END) {
        unknown_record(m, op); /* of any length: skipped */
        return true;
    }
    struct reel_error why = {0};
    const uint8_t *p = content_of(m, length, &why);
    if (!p) {
        return why.code == REEL_LIMIT || reel_error_pass(err, &why);
    }
    if (mcap_take_small(m, op, bytes_of(p, (size_t)length), &why)) {
        return true;
    }
    if (why.code != REEL_DAMAGED) {
        return reel_error_pass(err, &why);
    }
    reel_scan_finding(m->scan, REEL_LOSS, m->part, m->at, MCAP_RECORD_HEAD + length, "record at %llu: %s",
                      (unsigned long long)m->at, why.text);
    return true;
}

/* A message outside of chunks. */
static bool take_lone_message(struct mcap *m, uint64_t length, struct reel_error *err) {
    struct mcap_run run = {.window = &m->window, .at = m->at, .end = m->source->size, .chunk = m->part};
    bool good = mcap_take_message(m, &run, length, m->at, err);
    mcap_run_end(m, &run);
    return good;
}

static bool take_lone_messages(struct mcap *m, struct reel_error *err) {
    struct mcap_run run = {.window = &m->window, .at = m->at, .end = m->source->size, .chunk = m->part};
    bool good = mcap_take_messages(m, &run, err);
    mcap_run_end(m, &run);
    m->at = run.at;
    return good && mcap_cover(m, m->at, err);
}

static bool mcap_scan_take_record(struct mcap *m, uint8_t op, uint64_t length, struct reel_error *err) {
    if (op != MCAP_MESSAGE_INDEX) {
        mcap_end_message_indexes(m);
    }
    switch (op) {
    case MCAP_MESSAGE:
        return take_lone_message(m, length, err);
    case MCAP_CHUNK:
        return mcap_take_chunk(m, length, err);
    case MCAP_MESSAGE_INDEX:
        return mcap_take_message_index(m, length, err);
    case MCAP_ATTACHMENT:
        return mcap_take_attachment(m, length, err);
    default:
        return take_small_record(m, op, length, err);
    }
}

/* Handles bytes at m->at that are not a complete record. */
static bool take_damage(struct mcap *m, uint8_t op, uint64_t length, uint64_t left, struct reel_error *err) {
    if (op == MCAP_CHUNK && length > left) {
        bool inside = false;
        if (!mcap_take_cut_chunk(m, length, &inside, err) || inside) {
            return inside;
        }
    }
    char why[96];
    if (op >= MCAP_HEADER && op <= MCAP_DATA_END && length > left) {
        snprintf(why, sizeof why, "its length %llu exceeds the file", (unsigned long long)length);
    } else {
        snprintf(why, sizeof why, "op %u with length %llu is not a record", op, (unsigned long long)length);
    }
    return mcap_resume(m, why, 1, err);
}

static bool mcap_walk(struct mcap *m, struct reel_error *err) {
    uint64_t size = m->source->size;
    while (m->at < size && !m->ended) {
        if (!mcap_progress(m, m->at, err) || !take_lone_messages(m, err)) {
            return false;
        }
        uint64_t left = size - m->at;
        if (left < MCAP_RECORD_HEAD) {
            if (left > 0 && !mcap_resume(m, "it is truncated", left, err)) {
                return false;
            }
            break;
        }
        const uint8_t *p = window_at(&m->window, m->at, MCAP_RECORD_HEAD, err);
        if (!p) {
            return false;
        }
        uint8_t op = p[0];
        uint64_t length = load_u64le(p + 1);
        left -= MCAP_RECORD_HEAD;
        if (!mcap_plausible(op, length, left)) {
            if (!take_damage(m, op, length, left, err)) {
                return false;
            }
            continue;
        }
        if (!mcap_scan_take_record(m, op, length, err)) {
            return false;
        }
        m->at += MCAP_RECORD_HEAD + length;
        if (!m->in_summary && !mcap_cover(m, m->at, err)) {
            return false;
        }
    }
    return true;
}

/* What is behind the end: another file, as `cat a.mcap b.mcap` leaves it, or something that is not read. */
static bool report_rest(struct mcap *m, uint64_t at, struct reel_error *err) {
    uint64_t left = m->source->size - at;
    const uint8_t *p = left >= MCAP_MAGIC_SIZE ? window_at(&m->window, at, MCAP_MAGIC_SIZE, err) : NULL;
    if (left >= MCAP_MAGIC_SIZE && !p) {
        return false;
    }
    if (p && memcmp(p, MCAP_MAGIC, MCAP_MAGIC_SIZE) == 0) {
        m->follows = at;
        return reel_scan_finding(m->scan, REEL_NOTE, m->part, at, 0, "another MCAP file begins here: read as a part");
    }
    return reel_scan_finding(m->scan, REEL_WARNING, m->part, at, left, "%llu bytes after the file's end are not read",
                             (unsigned long long)left);
}

static bool report_end(struct mcap *m, struct reel_error *err) {
    uint64_t size = m->source->size;
    if (!m->ended) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, size, 0,
                          "the file ends without a footer: its writer was stopped, or the file is truncated");
        return true;
    }
    const uint8_t *p = size - m->at >= MCAP_MAGIC_SIZE ? window_at(&m->window, m->at, MCAP_MAGIC_SIZE, err) : NULL;
    if (size - m->at >= MCAP_MAGIC_SIZE && !p) {
        return false;
    }
    if (!p || memcmp(p, MCAP_MAGIC, MCAP_MAGIC_SIZE) != 0) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->at, size - m->at, "the file does not end with the magic");
    } else if (size - m->at > MCAP_MAGIC_SIZE) {
        return report_rest(m, m->at + MCAP_MAGIC_SIZE, err);
    }
    return true;
}

static void report_unknown(struct mcap *m) {
    if (m->unknown_records > 0) {
        reel_scan_finding(m->scan, REEL_NOTE, m->part, m->unknown_at, 0,
                          "%llu records of an unknown kind are skipped, the first with op %u",
                          (unsigned long long)m->unknown_records, m->unknown_op);
    }
    if (m->unclear_records > 0) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, m->unclear_at, 0,
                          "%llu records that do not belong into a chunk are skipped there",
                          (unsigned long long)m->unclear_records);
    }
}

/* ---- parts ---- */

bool mcap_begin_part(struct mcap *m, uint32_t part, struct reel_error *err) {
    const struct mcap before = *m;
    *m = (struct mcap){.scan = before.scan,
                       .arena = before.arena,
                       .names = before.names,
                       .window = before.window,
                       .inner = before.inner,
                       .peek = before.peek,
                       .ahead = before.ahead,
                       .seed = before.seed,
                       .pairs = before.pairs,
                       .attachments = before.attachments,
                       .done_before = before.source ? before.done_before + before.source->size : 0,
                       .source = before.scan->parts[part],
                       .part = part};
    m->window.source = m->peek.source = m->source;
    m->window.size = m->peek.size = 0;
    m->window.offset = m->peek.offset = 0;
    const uint8_t *p = m->source->size >= MCAP_MAGIC_SIZE ? window_at(&m->window, 0, MCAP_MAGIC_SIZE, err) : NULL;
    if (!p && m->source->size >= MCAP_MAGIC_SIZE) {
        return false;
    }
    if (!p || memcmp(p, MCAP_MAGIC, MCAP_MAGIC_VERSION_AT) != 0) {
        return reel_fail(err, REEL_NOT_MINE, "no MCAP: the file does not begin with its magic");
    }
    if (memcmp(p, MCAP_MAGIC, MCAP_MAGIC_SIZE) != 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "unknown MCAP version '%c': only '0' is supported",
                         p[MCAP_MAGIC_VERSION_AT] >= ' ' && p[MCAP_MAGIC_VERSION_AT] < 0x7f ? p[MCAP_MAGIC_VERSION_AT]
                                                                                            : '?');
    }
    m->at = MCAP_MAGIC_SIZE;
    mcap_names_begin(m);
    return true;
}

/* Reads the rest of a part and compares what it says of itself with what was found. */
static bool end_part(struct mcap *m, struct reel_error *err) {
    if (!mcap_read_ahead(m, err) || !mcap_walk(m, err)) {
        return false;
    }
    mcap_end_message_indexes(m);
    if (!report_end(m, err) || !mcap_names_end(m, err)) {
        return false;
    }
    report_unknown(m);
    mcap_compare(m);
    return true;
}

static bool scan_part(struct mcap *m, uint32_t part, struct reel_error *err) {
    bool good = mcap_begin_part(m, part, err) && mcap_chunks_begin(m, err) && end_part(m, err);
    scan_chunks_free(TAKE(m->compressed));
    return good;
}

bool mcap_walk_open(struct mcap *m, struct reel_scan *scan, size_t window, struct reel_error *err) {
    *m = (struct mcap){.scan = scan, .arena.max = REEL_MODEL_MAX};
    m->seed = hash_seed(); /* results do not depend on it */
    m->names = calloc(1, sizeof *m->names);
    if (!m->names) {
        return reel_fail_memory(err);
    }
    m->names->end = &m->names->first;
    enum { PEEK_BYTES = 4096 };
    return window_open(&m->window, NULL, window, err) && window_open(&m->inner, NULL, window, err) &&
           window_open(&m->peek, NULL, PEEK_BYTES, err);
}

/* Files that were appended to others: slices of the parts, which the scan reads like members of an archive. */
struct appended {
    struct reel_source **sources;    /* those of the parts, and from number `first` on the slices … */
    struct reel_location *locations; /* … which have a location */
    uint32_t first, n;
};
static void appended_free(struct appended *a) {
    for (uint32_t i = a->first; i < a->n; i++) {
        reel_source_free(a->sources[i]);
    }
    free(a->sources);
    free(a->locations);
}

static bool append(struct appended *a, struct reel_scan *scan, uint32_t part, uint64_t offset, struct reel_error *err) {
    uint64_t size = scan->parts[part]->size - offset;
    if (a->n == REEL_PARTS_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d files in one", REEL_PARTS_MAX);
    }
    struct reel_source **sources = realloc(a->sources, (a->n + 1) * sizeof(struct reel_source *));
    a->sources = sources ? sources : a->sources;
    struct reel_location *locations = sources ? realloc(a->locations, (a->n + 1) * sizeof *locations) : NULL;
    a->locations = locations ? locations : a->locations;
    if (!locations) {
        return reel_fail_memory(err);
    }
    const struct reel_location *outer = scan->locations ? &scan->locations[part] : NULL;
    struct reel_location *l = &locations[a->n];
    *l = outer ? *outer : (struct reel_location){.part = part};
    l->offset += l->packed ? 0 : offset;
    struct reel_source *slice = reel_source_slice(scan->parts[part], offset, size, err);
    if (!slice) {
        return false;
    }
    sources[a->n++] = slice;
    return reel_scan_chunk(scan, &(struct reel_chunk){.part = part, .offset = offset, .stored = size, .raw = size},
                           &l->chunk, err);
}

static bool scan_with_appended(struct mcap *m, uint32_t part, struct appended *a, struct reel_error *err) {
    struct reel_scan *scan = m->scan;
    uint64_t offset = 0;
    bool good = scan_part(m, part, err);
    while (good && m->follows > 0) {
        offset += m->follows;
        if (!append(a, scan, part, offset, err)) {
            return false;
        }
        struct reel_scan inner = {.parts = a->sources,
                                  .n_parts = a->n,
                                  .builder = scan->builder,
                                  .progress = scan->progress,
                                  .threads = scan->threads,
                                  .locations = a->locations};
        m->scan = &inner;
        good = scan_part(m, a->n - 1, err);
        m->scan = scan;
    }
    return good;
}

/* Walks the given parts, one MCAP file each, as one recording: equal channels of several parts are one. */
static bool mcap_scan_parts(struct reel_scan *scan, const uint32_t *parts, uint32_t n_parts, struct reel_error *err) {
    AUTO_STRUCT(mcap_walk_close) struct mcap m;
    if (!mcap_walk_open(&m, scan, REEL_WINDOW_BYTES, err)) {
        return false;
    }
    AUTO_STRUCT(appended_free) struct appended appended = {.first = scan->n_parts, .n = scan->n_parts};
    appended.sources = calloc((size_t)scan->n_parts + 1, sizeof(struct reel_source *));
    appended.locations = calloc((size_t)scan->n_parts + 1, sizeof *appended.locations);
    if (!appended.sources || !appended.locations) {
        return reel_fail_memory(err);
    }
    memcpy(appended.sources, scan->parts, scan->n_parts * sizeof(struct reel_source *));
    for (uint32_t i = 0; i < n_parts; i++) {
        if (!scan_with_appended(&m, parts[i], &appended, err)) {
            return n_parts == 1 ? false : reel_error_at(err, "%s", scan->parts[parts[i]]->name);
        }
    }
    return true;
}

static bool mcap_scan(struct reel_scan *scan, struct reel_error *err) {
    uint32_t all[REEL_PARTS_MAX];
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        all[i] = i;
    }
    reel_scan_container(scan, "MCAP0");
    return mcap_scan_parts(scan, all, scan->n_parts, err);
}

/* ---- a file that grows ---- */

static bool growth_open(void *state, struct reel_scan *scan, struct reel_error *err) {
    struct mcap *m = state;
    reel_scan_container(scan, "MCAP0");
    return mcap_walk_open(m, scan, REEL_WINDOW_BYTES, err) && mcap_begin_part(m, 0, err);
}
static bool growth_read(void *state, struct reel_error *err) {
    return mcap_walk(state, err);
}
static bool growth_finish(void *state, struct reel_error *err) {
    return end_part(state, err);
}
static void growth_close(void *state) {
    mcap_walk_close(state);
}
static const struct reel_growth_ops growth = {.state_size = sizeof(struct mcap),
                                              .open = growth_open,
                                              .read = growth_read,
                                              .finish = growth_finish,
                                              .close = growth_close};

static enum reel_joins mcap_joins(struct reel_source *const *parts, uint32_t n, struct reel_source *other) {
    return splits_join(&reel_format_mcap, parts, n, other);
}

static const char *const suffixes[] = {".mcap", NULL};

const struct reel_format reel_format_mcap = {
    .name = "mcap",
    .title = "MCAP",
    .media_type = "application/vnd.mcap",
    .suffixes = suffixes,
    .probe = mcap_probe,
    .scan = mcap_scan,
    .summary = mcap_summary,
    .describe = mcap_describe,
    .metadata_records = true,
    .joins = mcap_joins,
    .growth = &growth,
    .version = MCAP_SCAN_VERSION,
};
