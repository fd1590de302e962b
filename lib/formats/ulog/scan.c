/* Scans ULog files: one walk over the messages. Times count from the boot of the vehicle; a first, silent walk looks
 * for the time of day in what a GPS receiver says, and ends where it finds it. */
#include "formats/ulog/container.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"

#include <stdio.h>
#include <stdlib.h>

enum { PEEK_BYTES = 1 << 18 };

static void ulog_close(struct ulog *u) {
    window_close(&u->window);
    window_close(&u->peek);
    arena_free(&u->arena);
    hash_table_free(&u->format_names);
    hash_table_free(&u->topic_names);
    hash_table_free(&u->fact_keys);
    free(u->formats);
    free(u->topics);
    free(u->facts);
    free(u->ids);
}

static bool is_ulog(struct reel_bytes head) {
    return head.size >= ULOG_HEADER && memcmp(head.data, ULOG_MAGIC, ULOG_MAGIC_SIZE) == 0;
}

/* ---- the head */

/* Offsets that do not grow, or are not in the file, are none. */
static void read_appended(struct ulog *u, struct reel_bytes flags) {
    uint64_t before = ULOG_HEADER + ULOG_HEAD + flags.size;
    for (size_t i = 0; i < ULOG_APPENDED; i++) {
        uint64_t at = load_u64le(flags.data + 16 + 8 * i);
        bool good = at >= before && at < u->source->size;
        if (good) {
            u->appended[i] = before = at;
        } else if (at != 0 && !u->looking) {
            reel_scan_finding(u->scan, REEL_WARNING, 0, ULOG_HEADER, 0,
                              "data are said to be appended at byte %llu, where they cannot be: not used",
                              (unsigned long long)at);
        }
    }
}

/* The first message may be flag bits. */
static bool read_flags(struct ulog *u, struct reel_error *err) {
    struct ulog_message m;
    bool fits;
    if (!ulog_read(u, &u->window, ULOG_HEADER, &m, &fits, err)) {
        return false;
    }
    if (!fits || m.type != 'B' || m.data.size < ULOG_FLAGS) {
        return true;
    }
    for (size_t i = 0; i < 8; i++) {
        uint8_t unknown = m.data.data[8 + i] & (i == 0 ? 0xfe : 0xff);
        if (unknown) {
            return reel_fail(err, REEL_UNSUPPORTED,
                             "the log uses a feature that is not known (incompatible flags, byte %zu: 0x%02x)", i,
                             unknown);
        }
    }
    if (m.data.data[8] & 1) {
        read_appended(u, m.data);
    }
    return true;
}

static bool report_head(struct ulog *u, const uint8_t *head, struct reel_error *err) {
    char text[32];
    uint8_t version = head[ULOG_MAGIC_SIZE];
    snprintf(text, sizeof text, "ULog, version %u", version);
    reel_scan_container(u->scan, text);
    if (version > 1) {
        reel_scan_finding(u->scan, REEL_WARNING, 0, ULOG_MAGIC_SIZE, 1, "unknown version %u: read as version 1",
                          version);
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)load_u64le(head + 8));
    reel_scan_clock(u->scan, u->has_utc ? REEL_CLOCK_WALL : REEL_CLOCK_RELATIVE,
                    u->has_utc ? "time since boot, with the time of day from GPS (time_utc_usec)"
                               : "time since boot: the log has no time of day from GPS");
    return reel_scan_metadata(u->scan, "ulog.start_us", bytes_text(text), err);
}

static bool ulog_begin(struct ulog *u, struct reel_scan *scan, bool looking, struct reel_error *err) {
    uint64_t size = scan->parts[0]->size;
    u->scan = scan;
    u->source = scan->parts[0];
    u->looking = looking;
    u->at = ULOG_HEADER;
    u->arena.max = REEL_MODEL_MAX;
    u->search_left = 16 * (size < UINT64_MAX >> 5 ? size : UINT64_MAX >> 5) + REEL_WINDOW_BYTES;
    return window_open(&u->window, u->source, REEL_WINDOW_BYTES, err) &&
           window_open(&u->peek, u->source, PEEK_BYTES, err) && read_flags(u, err);
}

/* ---- the walk */

/* No format with a time of day: the definitions are over, and the data need not be read for it. */
static bool is_futile(struct ulog *u) {
    for (size_t i = 0; i < u->n_formats; i++) {
        if (ulog_format_resolve(u, u->formats[i]) && u->formats[i]->utc >= 0) {
            return false;
        }
    }
    return true;
}

static bool ulog_walk(struct ulog *u, struct reel_error *err) {
    bool checked = !u->looking;
    while (u->at < u->source->size && !(u->looking && u->has_utc)) {
        struct ulog_message m;
        bool fits;
        if (!ulog_progress(u, u->at, err) || !ulog_read(u, &u->window, u->at, &m, &fits, err)) {
            return false;
        }
        bool sound = fits && ulog_is_sound(u, &m, true);
        if (!(sound ? ulog_take(u, &m, err) : ulog_resume(u, &m, fits, err))) {
            return false;
        }
        u->at = sound ? m.end : u->at;
        if (u->in_data && !checked) {
            checked = true;
            if (is_futile(u)) {
                return true;
            }
        }
    }
    return true;
}

static void report_count(struct ulog *u, enum reel_severity severity, const struct ulog_count *c, const char *what) {
    if (c->n > 0) {
        reel_scan_finding(u->scan, severity, 0, c->at, 0, "%s: %llu, the first at byte %llu", what,
                          (unsigned long long)c->n, (unsigned long long)c->at);
    }
}

static void report_counts(struct ulog *u) {
    report_count(u, REEL_LOSS, &u->orphans, "messages without a subscription are lost");
    report_count(u, REEL_LOSS, &u->misfits, "messages that do not fit their type or format are lost");
    report_count(u, REEL_LOSS, &u->lost_facts, "infos and parameters beyond what a recording can have are lost");
    report_count(u, REEL_NOTE, &u->unknown, "messages of unknown types are passed over");
    report_count(u, REEL_WARNING, &u->odd_times, "times that are more than a day later than others are not used");
    report_count(u, REEL_WARNING, &u->no_time, "messages without a timestamp have the time of those before them");
    if (u->dropped.n > 0) {
        reel_scan_finding(u->scan, REEL_WARNING, 0, u->dropped.at, 0,
                          "dropouts, in which the logger lost messages: %llu, %llu ms in all (topic /dropout)",
                          (unsigned long long)u->dropped.n, (unsigned long long)u->dropout_ms);
    }
}

static bool find_utc(struct reel_scan *scan, bool *found, int64_t *utc_ns, struct reel_error *err) {
    AUTO_STRUCT(ulog_close) struct ulog u = {.at = 0};
    if (!ulog_begin(&u, scan, true, err) || !ulog_walk(&u, err)) {
        return false;
    }
    *found = u.has_utc;
    *utc_ns = u.utc_ns;
    return true;
}

static bool ulog_scan(struct reel_scan *scan, struct reel_error *err) {
    uint8_t head[ULOG_HEADER];
    if (scan->n_parts != 1) {
        return reel_fail(err, REEL_UNSUPPORTED, "a ULog recording is one file, not %u", scan->n_parts);
    }
    if (scan->parts[0]->size < sizeof head) {
        return reel_fail(err, REEL_NOT_MINE, "not a ULog file: it has fewer than %d bytes", ULOG_HEADER);
    }
    if (!reel_source_read(scan->parts[0], 0, head, sizeof head, err)) {
        return false;
    }
    if (!is_ulog(bytes_of(head, sizeof head))) {
        return reel_fail(err, REEL_NOT_MINE, "not a ULog file: it does not begin with ULog");
    }
    AUTO_STRUCT(ulog_close) struct ulog u = {.at = 0};
    if (!find_utc(scan, &u.has_utc, &u.utc_ns, err) || !ulog_begin(&u, scan, false, err) ||
        !report_head(&u, head, err) || !ulog_walk(&u, err)) {
        return false;
    }
    report_counts(&u);
    return ulog_report_facts(&u, err);
}

static int ulog_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)source;
    (void)err;
    return is_ulog(head) ? 8 * ULOG_MAGIC_SIZE : 0;
}

const struct reel_format reel_format_ulog = {
    .name = "ulog",
    .title = "PX4 ULog",
    .media_type = "application/x-ulog",
    .suffixes = (const char *const[]){".ulg", ".ulog", NULL},
    .probe = ulog_probe,
    .scan = ulog_scan,
    .open_rows = ulog_open_rows,
    .version = 1,
};
