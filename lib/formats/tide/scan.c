/* Scans TIDE logs of majors 0 to 2. Sizes, counts and the index that a file states are only compared with its content.
 */
#include "formats/tide/container.h"

#include "base/bytes.h"
#include "formats/tide/rsb_names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PEEK_BYTES = 16 << 10,
    DATA_BYTES = 128 << 10, /* small, because large payloads are skipped */
    PROGRESS_STEP = 4 << 20,
};

static int tide_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    if (head.size < TIDE_BLOCK_HEAD + TIDE_BODY_NEW || !bytes_start(head, bytes_of("TIDE", 4))) {
        return 0;
    }
    if (head.data[TIDE_BLOCK_HEAD] <= TIDE_MAJOR_MAX) {
        return 40;
    }
    return load_u64le(head.data + 4) <= source->size ? 32 : 0; /* a later major is recognised, and refused; text that
                                                                  begins with "TIDE" is not */
}

void tide_lost(struct tide *t, uint64_t at, uint64_t length, const char *text, ...) {
    char line[384];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    t->lost++;
    reel_scan_finding(t->scan, REEL_LOSS, 0, at, length, "%s", line);
}

bool tide_progress(struct tide *t, uint64_t at, struct reel_error *err) {
    if (at < t->report_at) {
        return true;
    }
    t->report_at = at + PROGRESS_STEP;
    return reel_scan_progress(t->scan, at, t->source->size, err);
}

bool tide_no_room(const struct tide *t, struct reel_error *err) {
    return t->arena.no_memory ? reel_fail_memory(err)
                              : reel_fail(err, REEL_LIMIT, "channels and types exceed %d MiB", REEL_MODEL_MAX >> 20);
}

/* ---- the two passes ---- */

static bool read_descriptions(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    return (b->tag != TIDE_CHAN && b->tag != TIDE_TYPE && b->tag != TIDE_META) || tide_read_description(t, b, err);
}

static bool tide_read_messages(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    if (b->resized && (b->tag != TIDE_CHNK || b->size >= TIDE_CHUNK_HEAD)) {
        tide_oddity(&t->resized, b->at);
    }
    switch (b->tag) {
    case TIDE_CHNK:
        return tide_read_chunk(t, b, err);
    case TIDE_INDX:
        return tide_read_index(t, b, err);
    case TIDE_TIDE:
        tide_oddity(&t->extra_heads, b->at);
        return true;
    case TIDE_OTHER:
        if (t->unknown.count == 0) {
            memcpy(t->unknown_name, b->name, sizeof b->name);
        }
        tide_oddity(&t->unknown, b->at);
        return true;
    default:
        return true;
    }
}

/* ---- findings that are counted ---- */

static void tide_report(struct tide *t, enum reel_severity severity, const struct tide_oddities *p, const char *what) {
    if (p->count > 0) {
        reel_scan_finding(t->scan, severity, 0, p->at, 0, "%llu %s, the first at %llu", (unsigned long long)p->count,
                          what, (unsigned long long)p->at);
    }
}

static void report_oddities(struct tide *t) {
    tide_report(t, REEL_WARNING, &t->extra_heads, "further blocks TIDE skipped");
    tide_report(t, REEL_NOTE, &t->byte_counts,
                "chunks count bytes where entries should be counted (RSBag before November 2011)");
    tide_report(t, REEL_WARNING, &t->counts, "chunks have a different number of entries than they state");
    tide_report(t, REEL_WARNING, &t->ranges, "chunks have entries outside their stated time range");
    tide_report(t, REEL_WARNING, &t->late,
                "messages have times after the year 2262, the latest that can be stored: set to that time");
    tide_report(t, REEL_WARNING, &t->unfinished,
                "chunks were not closed by their writer: their entries are read as far as they go");
    tide_report(t, REEL_NOTE, &t->padded, "blocks end with four zero bytes (RSBag before February 2013)");
    tide_report(t, REEL_NOTE, &t->beyond, "blocks have bytes after their last field");
    tide_report(t, REEL_WARNING, &t->resized, "blocks have a wrong Size: their end is derived from their content");
    if (t->unknown.count > 0) {
        const uint8_t *n = t->unknown_name;
        char name[17];
        snprintf(name, sizeof name,
                 t->unknown_name[0] < 0x20 || t->unknown_name[0] > 0x7e ? "%02x %02x %02x %02x" : "%c%c%c%c", n[0],
                 n[1], n[2], n[3]);
        reel_scan_finding(t->scan, REEL_NOTE, 0, t->unknown.at, 0,
                          "%llu blocks of unknown kinds skipped, the first (%s) at %llu",
                          (unsigned long long)t->unknown.count, name, (unsigned long long)t->unknown.at);
    }
    if (t->odd_times.count > 0) {
        reel_scan_finding(
            t->scan, REEL_NOTE, 0, t->odd_times.at, 0,
            "%llu of %llu messages have times before 1990 or after 2100, the first at %llu: kept unchanged",
            (unsigned long long)t->odd_times.count, (unsigned long long)t->messages,
            (unsigned long long)t->odd_times.at);
    }
}

static bool tide_scan_run(struct tide *t, struct reel_error *err) {
    if (!tide_walk(t, false, read_descriptions, err) || !tide_report_channels(t, err) ||
        !tide_walk(t, true, tide_read_messages, err)) {
        return false;
    }
    tide_compare_index(t);
    report_oddities(t);
    return true;
}

static bool open_windows(struct tide *t, size_t peek, size_t data, struct reel_error *err) {
    return window_open(&t->peek, t->source, peek, err) && window_open(&t->data, t->source, data, err);
}

bool tide_log_open(struct tide *t, struct reel_scan *scan, size_t peek, size_t data, struct reel_error *err) {
    uint8_t head[TIDE_BLOCK_HEAD + TIDE_BODY_NEW];
    t->scan = scan;
    t->source = scan->parts[0];
    t->arena.max = REEL_MODEL_MAX;
    if (scan->n_parts != 1) {
        return reel_fail(err, REEL_ARGUMENT, "a TIDE log is one file, not %u", scan->n_parts);
    }
    if (t->source->size < sizeof head) {
        return reel_fail(err, REEL_NOT_MINE, "not a TIDE log: %llu bytes", (unsigned long long)t->source->size);
    }
    if (!reel_source_read(t->source, 0, head, sizeof head, err)) {
        return false;
    }
    t->major = head[TIDE_BLOCK_HEAD];
    t->minor = head[TIDE_BLOCK_HEAD + 1];
    if (memcmp(head, "TIDE", 4) != 0) {
        return reel_fail(err, REEL_NOT_MINE, "not a TIDE log: it does not begin with a TIDE block");
    }
    if (t->major > TIDE_MAJOR_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "TIDE version %u.%u: only 0.x, 1.x and 2.x are supported", t->major,
                         t->minor);
    }
    char container[32];
    snprintf(container, sizeof container, "TIDE %u.%u", t->major, t->minor);
    reel_scan_container(scan, container);
    return open_windows(t, peek, data, err) && tide_begin(t, load_u64le(head + 4), err);
}

void tide_log_close(struct tide *t) {
    window_close(&t->peek);
    window_close(&t->data);
    free(t->channels);
    hash_table_free(&t->by_id);
    free(t->types);
    arena_free(&t->arena);
}

static bool tide_scan(struct reel_scan *scan, struct reel_error *err) {
    struct tide t = {.scan = scan};
    bool good = tide_log_open(&t, scan, PEEK_BYTES, DATA_BYTES, err) && tide_scan_run(&t, err);
    tide_log_close(&t);
    return good;
}

const struct reel_format reel_format_tide = {
    .contract = TIDE_CONTRACT,
    .name = "tide",
    .title = "TIDE log",
    .media_type = "application/x-tide",
    .suffixes = (const char *const[]){".tide", ".tid", NULL},
    .probe = tide_probe,
    .scan = tide_scan,
    .summary = tide_summary,
    .version = 3,
};
