/* Scans CARLA recorder files. Packets are walked by their size only, and the records of each list must end where its
 * packet ends. Other packets are reported. After damage the walk continues at the next frame. */
#include "base/bytes.h"
#include "base/c_locale.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "formats/carla/container.h"
#include "reel/time.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    REPORTED_EACH = 20, /* findings of one kind that are reported individually */
    PROGRESS_STEP = 4 << 20,
};

static const int64_t SECONDS_1900 = 2208988800; /* from 1900 to 1970 */

/* --- findings --- */

void carla_report(struct carla_scan *s, enum carla_quirk quirk, uint64_t offset, const char *text, ...) {
    C_LOCALE;
    if (s->quirks[quirk]++ >= REPORTED_EACH) {
        return;
    }
    char line[512];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    reel_scan_finding(s->scan, REEL_WARNING, 0, offset, 0, "%s", line);
}

static unsigned long long long_of(uint64_t v) {
    return v;
}

static void carla_report_rest(struct carla_scan *s) {
    static const char *const what[CARLA_QUIRKS] = {
        [CARLA_OUTSIDE] = "packets are outside of a frame",
        [CARLA_NO_END] = "frames have no end",
        [CARLA_MISFIT] = "packets have a size that does not match their records",
        [CARLA_UNWALKED] = "packets are too large to be checked",
        [CARLA_NUMBER] = "frames do not have the next number",
        [CARLA_ELAPSED] = "frames have another elapsed time than expected from the previous frame",
        [CARLA_NO_POSITION] = "frames have no position packet",
        [CARLA_NO_TRAFFIC_LIGHT] = "frames have no traffic light packet",
    };
    for (int q = 0; q < CARLA_QUIRKS; q++) {
        if (s->quirks[q] > REPORTED_EACH) {
            reel_scan_finding(s->scan, REEL_WARNING, 0, 0, 0, "%llu more %s",
                              (unsigned long long)(s->quirks[q] - REPORTED_EACH), what[q]);
        }
    }
    if (s->wide > 0) {
        reel_scan_finding(s->scan, REEL_NOTE, 0, 0, 0, "%llu lists have a total of 32 bits", long_of(s->wide));
    }
    if (s->disordered > 0) {
        reel_scan_finding(s->scan, REEL_NOTE, 0, s->disorder_at, 0,
                          "%llu packets are not in the order in which CARLA writes those of a frame",
                          long_of(s->disordered));
    }
    if (s->wrapped > 0) {
        reel_scan_finding(s->scan, REEL_NOTE, 0, 0, 0,
                          "%llu lists have more than 65535 records: their totals have wrapped",
                          (unsigned long long)s->wrapped);
    }
}

/* --- frames --- */

static void close_frame(struct carla_scan *s) {
    if (s->frames == 0) {
        return;
    }
    if (!s->has[CARLA_POSITION]) {
        carla_report(s, CARLA_NO_POSITION, s->frame_at, "frame %llu at %llu has no position packet", long_of(s->frames),
                     long_of(s->frame_at));
    }
    if (!s->has[CARLA_TRAFFIC_LIGHT]) {
        carla_report(s, CARLA_NO_TRAFFIC_LIGHT, s->frame_at, "frame %llu at %llu has no traffic light packet",
                     long_of(s->frames), long_of(s->frame_at));
    }
}

/* The time of a frame, but not before that of the previous frame, so that the order of time is the order in the file.
 */
static void believe_elapsed(struct carla_scan *s, const struct carla_frame *f) {
    const struct carla_frame *before = s->frames > 0 ? &s->frame : NULL;
    double step = before && before->duration > 0 && before->duration <= CARLA_JUMP_MAX ? before->duration : 0;
    double expected = before ? before->elapsed + before->duration : 0;
    if (fabs(f->elapsed - expected) > 1e-9 * fmax(1, fabs(expected)) || isnan(f->elapsed) || isnan(expected)) {
        carla_report(s, CARLA_ELAPSED, s->at, "frame %llu at %llu: elapsed %.9g s instead of %.9g s",
                     long_of(s->frames + 1), long_of(s->at), f->elapsed, expected);
    }
    bool good = f->elapsed >= s->elapsed && f->elapsed <= CARLA_ELAPSED_MAX &&
                (!before || f->elapsed - s->elapsed <= CARLA_JUMP_MAX);
    s->elapsed = good ? f->elapsed : s->elapsed + step;
    s->elapsed = s->elapsed <= CARLA_ELAPSED_MAX ? s->elapsed : CARLA_ELAPSED_MAX;
    s->time_ns = s->date_ns + llround(s->elapsed * CARLA_NS_PER_SEC);
}

static void begin_frame(struct carla_scan *s, const uint8_t *data) {
    if (s->open) {
        carla_report(s, CARLA_NO_END, s->frame_at, "frame %llu at %llu has no end: another starts at %llu",
                     long_of(s->frames), long_of(s->frame_at), long_of(s->at));
        close_frame(s);
    }
    struct carla_frame f = {.id = s->frame.id + 1, .duration = -1, .elapsed = NAN};
    if (data) {
        f = carla_frame_read(data);
    }
    if (f.id != s->frame.id + 1) {
        carla_report(s, CARLA_NUMBER, s->at, "frame %llu at %llu has the number %llu, after %llu",
                     long_of(s->frames + 1), long_of(s->at), long_of(f.id), long_of(s->frame.id));
    }
    believe_elapsed(s, &f);
    s->frame = f;
    s->frames++;
    s->frame_at = s->at;
    s->open = true;
    s->before = CARLA_FRAME_START;
    memset(s->has, 0, sizeof s->has);
}

static void outside(struct carla_scan *s, uint8_t id) {
    carla_report(s, CARLA_OUTSIDE, s->at, "packet %u at %llu is outside of a frame: added to the previous one", id,
                 long_of(s->at));
}

/* --- content of packets --- */

static void misfit(struct carla_scan *s, uint8_t id, uint32_t size) {
    carla_report(s, CARLA_MISFIT, s->at, "packet %u at %llu: its size of %u bytes does not match its records", id,
                 long_of(s->at), size);
}

/* The total of 32 bits that a document shows. */
bool carla_is_wide(enum carla_kind kind, const uint8_t *data, uint32_t size) {
    return kind == CARLA_EVENT_DEL && size >= 4 && size % 4 == 0 && load_u32le(data) == (size - 4) / 4;
}

static void check_list(struct carla_scan *s, uint8_t id, enum carla_kind kind, uint16_t n, uint32_t size) {
    if (n > 0 && id >= 21 && id <= 23) {
        carla_detect_ids_by_size(s, id, n, size);
        kind = (enum carla_kind)s->kinds[id];
        if (carla_facts[kind].body != CARLA_LIST) {
            return; /* its size shows wheels, and fits */
        }
    }
    if (n > 0 && carla_facts[kind].vecs > 0 && !s->vec_proved) {
        carla_detect_vec_by_size(s, kind, n, size);
    }
    uint32_t record = carla_record_size(kind, &s->layout);
    if (size != 2 + (uint64_t)n * record) {
        bool wraps = (size - 2) % record == 0 && (uint16_t)((size - 2) / record) == n;
        s->wrapped += wraps;
        if (!wraps) {
            misfit(s, id, size);
        }
    }
}

/* Records of UE5 are read when a packet with some fits; else they are opaque, and all fit. */
static bool fits_physics_ue5(struct carla_scan *s, struct reel_bytes data) {
    struct carla_layout ue5 = s->layout;
    ue5.wheel = CARLA_WHEEL_UE5;
    bool fits = carla_fits(CARLA_PHYSICS, &ue5, data);
    if (s->layout.wheel == 0 && fits && load_u16le(data.data) > 0) {
        s->layout.wheel = CARLA_WHEEL_UE5;
    }
    return fits || s->layout.wheel != CARLA_WHEEL_UE5;
}

/* Detects the size of a wheel from a packet that fits only one of the sizes. */
static bool fits_physics(struct carla_scan *s, struct reel_bytes data) {
    if (s->layout.vec == CARLA_VEC_DOUBLE) {
        return fits_physics_ue5(s, data);
    }
    struct carla_layout old = s->layout, now = s->layout;
    old.wheel = CARLA_WHEEL_OLD;
    now.wheel = CARLA_WHEEL_NEW;
    bool fits_old = carla_fits(CARLA_PHYSICS, &old, data), fits_now = carla_fits(CARLA_PHYSICS, &now, data);
    if (s->layout.wheel == 0 && fits_old != fits_now) {
        s->layout.wheel = fits_old ? CARLA_WHEEL_OLD : CARLA_WHEEL_NEW;
    }
    return s->layout.wheel == CARLA_WHEEL_OLD   ? fits_old
           : s->layout.wheel == CARLA_WHEEL_NEW ? fits_now
                                                : fits_old || fits_now;
}

/* Walks a list of variable-size records to its end. */
static bool check_walked(struct carla_scan *s, uint8_t id, enum carla_kind kind, uint32_t size,
                         struct reel_error *err) {
    if (size > CARLA_WALKED_MAX) {
        carla_report(s, CARLA_UNWALKED, s->at, "packet %u at %llu: with %u bytes too large to be checked", id,
                     long_of(s->at), size);
        return true;
    }
    const uint8_t *p = window_at(&s->window, s->at, CARLA_PACKET_HEAD + (size_t)size, err);
    if (!p) {
        return false;
    }
    struct reel_bytes data = bytes_of(p + CARLA_PACKET_HEAD, size);
    if (id >= 21 && id <= 23 && load_u16le(data.data) > 0) {
        carla_detect_ids_by_size(s, id, load_u16le(data.data), size);
        kind = (enum carla_kind)s->kinds[id];
    }
    if (carla_facts[kind].vecs > 0 && s->layout.vec == 0) {
        carla_detect_vec_by_walk(s, kind, data);
    }
    if (kind == CARLA_EVENT_ADD && !s->attributes_proved) {
        carla_detect_attributes(s, data);
    }
    bool fits = kind == CARLA_PHYSICS ? fits_physics(s, data) : carla_fits(kind, &s->layout, data);
    if (!fits) {
        misfit(s, id, size);
    }
    return true;
}

static bool check_packet(struct carla_scan *s, uint8_t id, enum carla_kind kind, uint32_t size,
                         struct reel_error *err) {
    const struct carla_facts *facts = &carla_facts[kind];
    if (facts->body == CARLA_PLAIN && size != facts->fixed && (size > 0 || kind == CARLA_FRAME_START)) {
        misfit(s, id, size);
    }
    if (!carla_is_list(kind) || size == 0) {
        return true;
    }
    if (size < 2) {
        misfit(s, id, size);
        return true;
    }
    if (facts->body != CARLA_LIST) {
        return check_walked(s, id, kind, size, err);
    }
    const uint8_t *p = window_at(&s->window, s->at, CARLA_PACKET_HEAD + (size < 4 ? 2 : 4), err);
    if (!p) {
        return false;
    }
    if (carla_is_wide(kind, p + CARLA_PACKET_HEAD, size)) {
        s->wide++;
        return true;
    }
    check_list(s, id, kind, load_u16le(p + CARLA_PACKET_HEAD), size);
    return true;
}

/* --- one packet --- */

static bool channel_of(struct carla_scan *s, uint8_t id, enum carla_kind kind, struct reel_error *err) {
    struct carla_channel channel;
    carla_channel_make(&channel, id, kind, &s->layout);
    s->met[id] = true;
    return reel_scan_channel(s->scan, &channel.model, &s->channels[id], err);
}

/* Within a frame. */
static void check_order(struct carla_scan *s, uint8_t id) {
    enum carla_kind kind = (enum carla_kind)s->kinds[id];
    if (!s->open || kind == CARLA_UNKNOWN) {
        return;
    }
    if (kind < s->before && s->disordered++ == 0) {
        s->disorder_at = s->at;
    }
    s->before = kind;
}

static bool carla_scan_take_packet(struct carla_scan *s, uint8_t id, uint32_t size, struct reel_error *err) {
    if (id >= 21 && id <= 23 && s->layout.ids == CARLA_IDS_OPEN) {
        carla_detect_ids(s, id);
    }
    enum carla_kind kind = (enum carla_kind)s->kinds[id];
    if (kind == CARLA_FRAME_START) {
        const uint8_t *p =
            size < CARLA_START_SIZE ? NULL : window_at(&s->window, s->at, CARLA_PACKET_HEAD + CARLA_START_SIZE, err);
        if (!p && size >= CARLA_START_SIZE) {
            return false;
        }
        begin_frame(s, p ? p + CARLA_PACKET_HEAD : NULL);
    } else if (!s->open) {
        outside(s, id);
    }
    if ((!s->met[id] && !channel_of(s, id, kind, err)) || !check_packet(s, id, kind, size, err)) {
        return false;
    }
    check_order(s, id);
    s->has[s->kinds[id]] = true;
    if (kind == CARLA_FRAME_END && s->open) {
        close_frame(s);
        s->open = false;
    }
    const struct reel_entry entry = {
        .time_ns = s->time_ns,
        .offset = s->at,
        .channel = s->channels[id],
        .head = CARLA_PACKET_HEAD,
        .size = size,
        .extra = {s->frames, s->frames > 0 ? s->at - s->frame_at : 0},
    };
    s->at += CARLA_PACKET_HEAD + (uint64_t)size;
    return reel_scan_entry(s->scan, &entry, err);
}

static bool carla_scan_walk(struct carla_scan *s, struct reel_error *err) {
    char why[160];
    while (s->at < s->source->size) {
        uint64_t left = s->source->size - s->at;
        if (s->at >= s->report_at) {
            s->report_at = s->at + PROGRESS_STEP;
            if (!reel_scan_progress(s->scan, s->at, s->source->size, err)) {
                return false;
            }
        }
        const uint8_t *p = left < CARLA_PACKET_HEAD ? NULL : window_at(&s->window, s->at, CARLA_PACKET_HEAD, err);
        if (!p && left >= CARLA_PACKET_HEAD) {
            return false;
        }
        uint8_t id = p ? p[0] : 0;
        uint32_t size = p ? load_u32le(p + 1) : 0;
        if (!carla_check_head(s, p, left, why, err) ||
            !(why[0] != '\0' ? carla_resume(s, why, err) : carla_scan_take_packet(s, id, size, err))) {
            return false;
        }
    }
    return true;
}

static void report_end(struct carla_scan *s) {
    if (s->frames == 0) {
        reel_scan_finding(s->scan, REEL_NOTE, 0, s->source->size, 0, "the file has no frame");
    } else if (s->open) {
        reel_scan_finding(s->scan, REEL_LOSS, 0, s->source->size, 0,
                          "the file ends inside frame %llu, which begins at %llu", long_of(s->frames),
                          long_of(s->frame_at));
    } else if (s->frame.duration != -1 && !s->cut) {
        reel_scan_finding(s->scan, REEL_WARNING, 0, s->frame_at, 0,
                          "the duration of the last frame is %.9g s, not -1 s: frames after it are missing",
                          s->frame.duration);
    }
}

/* --- the file --- */

static bool open_scan(struct carla_scan *s, struct reel_scan *scan, struct reel_error *err) {
    s->scan = scan;
    s->source = scan->parts[0];
    if (!window_open(&s->window, s->source, REEL_WINDOW_BYTES, err)) {
        return false;
    }
    size_t size = s->source->size < CARLA_HEADER_MAX ? (size_t)s->source->size : CARLA_HEADER_MAX;
    const uint8_t *p = window_at(&s->window, 0, size, err);
    if (!p) {
        return false;
    }
    if (!carla_header_read(bytes_of(p, size), &s->header)) {
        bool mine = size >= CARLA_DATE_AT && memcmp(p + 4, CARLA_MAGIC, CARLA_MAGIC_SIZE) == 0;
        return mine
                   ? reel_fail(err, REEL_DAMAGED, "the header is truncated at %zu bytes", size)
                   : reel_fail(err, REEL_NOT_MINE, "not a CARLA recorder file: it does not begin with %s", CARLA_MAGIC);
    }
    if (s->header.version != 1 && s->header.version != 2) {
        reel_scan_finding(scan, REEL_WARNING, 0, 0, 2, "unknown version %u: read as version 2", s->header.version);
    }
    bool wall = carla_date_believed(s->header.date);
    if (wall && carla_date_believed(s->header.date - SECONDS_1900)) {
        char date[REEL_TIME_TEXT], other[REEL_TIME_TEXT];
        reel_time_rfc3339(s->header.date * CARLA_NS_PER_SEC, date);
        reel_time_rfc3339((s->header.date - SECONDS_1900) * CARLA_NS_PER_SEC, other);
        reel_scan_finding(scan, REEL_NOTE, 0, CARLA_DATE_AT, 8,
                          "the date is %.10s; counted from 1900, as a document says, it would be %.10s", date, other);
    }
    s->date_ns = s->time_ns = wall ? s->header.date * CARLA_NS_PER_SEC : 0;
    reel_scan_clock(scan, wall ? REEL_CLOCK_WALL : REEL_CLOCK_RELATIVE,
                    wall ? "the header's date plus simulated time"
                         : "the header has no plausible date: simulated time since the start of the recording");
    s->attributes_proved = s->header.version >= 2;
    s->layout.attributes_from = s->attributes_proved;
    memset(s->kinds, CARLA_UNKNOWN, sizeof s->kinds);
    for (int kind = 0; kind < CARLA_KINDS; kind++) {
        s->kinds[carla_facts[kind].id] = (uint8_t)kind;
    }
    s->at = s->header.size;
    AUTO_MEM char *digits = malloc(2 * (size_t)s->header.size + 1);
    if (!digits) {
        return reel_fail_memory(err);
    }
    hex_write(p, s->header.size, digits);
    if (!(s->header_digits = reel_scan_text(scan, bytes_of(digits, 2 * (size_t)s->header.size), err))) {
        return false;
    }
    return carla_report_header(s, err); /* the name of the map points into the window */
}

static void close_scan(struct carla_scan *s) {
    window_close(&s->window);
}

static bool carla_scan(struct reel_scan *scan, struct reel_error *err) {
    if (scan->n_parts != 1) {
        return reel_fail(err, REEL_UNSUPPORTED, "a CARLA recording is one file, not %u", scan->n_parts);
    }
    AUTO_STRUCT(close_scan) struct carla_scan s = {.at = 0};
    if (!open_scan(&s, scan, err) || !carla_scan_walk(&s, err)) {
        return false;
    }
    carla_report_rest(&s);
    report_end(&s);
    return carla_report_file(&s, err);
}

static int carla_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    (void)source;
    bool magic = head.size >= CARLA_DATE_AT && load_u16le(head.data + 2) == CARLA_MAGIC_SIZE &&
                 memcmp(head.data + 4, CARLA_MAGIC, CARLA_MAGIC_SIZE) == 0;
    return magic ? 8 * (2 + CARLA_MAGIC_SIZE) : 0;
}

/* The sequence of a packet is the number of its frame. */
static void carla_describe(struct reel_bytes head, const struct reel_entry *entry, const struct reel_channel *channel,
                           struct reel_description *out) {
    (void)channel;
    (void)head;
    out->sequence = (uint32_t)entry->extra[0];
}

const struct reel_format reel_format_carla = {
    .name = "carla",
    .title = "CARLA log",
    .media_type = "application/x-carla-recorder",
    .suffixes = (const char *const[]){".log", ".rec", NULL},
    .probe = carla_probe,
    .scan = carla_scan,
    .describe = carla_describe,
    .contract = CARLA_CONTRACT,
    .unit = "/frame", /* its duration is -1 until the next frame begins */
    .version = 4,
};
