/* Scans NanoVer recordings of the older format: a .traj, a .state, or both as the two parts of one recording. A record
 * counts when its message is complete and can be converted, so that every scanned message can be exported as a current
 * recording. After damage the next record is searched byte by byte. */
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/window.h"
#include "formats/nanover/keys.h"
#include "formats/nanover/legacy.h"
#include "formats/nanover/legacy_container.h"
#include "formats/nanover/legacy_layout.h"
#include "index/scan.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    KIND_RECORDS_MAX = 16, /* records read to decide between .traj and .state */
    PROGRESS_BYTES = 8 << 20,
    CONVERTED_MAX = 4, /* most bytes converted while searching for records after damage, as a multiple of the part's
                          size */
};
#define TIME_MAX_US ((uint64_t)NANOVER_TIME_MAX / 1000)
#define JUMP_MAX_US UINT64_C(120000000) /* largest step between two records that is accepted after damage */

struct header {
    uint64_t time_us, upper, size;
};

struct part {
    struct reel_scan *scan;
    struct reel_source *source;
    uint32_t number, chunk, channel;
    enum legacy_kind kind;
    uint64_t first; /* position of the first record */
    struct window window;
    struct legacy_converter converter;
    struct nanover_keys keys; /* keys of the last message read */
    struct nanover_key_sets sets;
    uint64_t at, before;          /* position of the next record; bytes of the parts before this one */
    uint64_t total;               /* bytes of all parts */
    uint64_t converted, reported; /* bytes of messages converted; position at the last progress report */
    uint64_t taken, last_us;      /* number of records, time of the last one */
    uint64_t back, unknown, text; /* counts: time before that of the previous message; unknown fields; text that is not
                                     UTF-8 */
    bool named;                   /* a simulation name was reported */
};
static inline void reel_auto_part_done(struct part *p) {
    window_close(&p->window);
    legacy_converter_done(&p->converter);
    nanover_keys_free(&p->keys);
    nanover_key_sets_free(&p->sets);
}

static struct header header_of(const uint8_t *p) {
    return (struct header){.time_us = load_u64le(p), .upper = load_u64le(p + 8), .size = load_u64le(p + 16)};
}

static bool is_plausible(const struct header *h, uint64_t from_us, uint64_t left) {
    return h->upper == 0 && h->time_us >= from_us && h->time_us - from_us <= JUMP_MAX_US && h->time_us <= TIME_MAX_US &&
           h->size <= left - LEGACY_RECORD_SIZE;
}

/* --- which of the two a file is --- */

static enum legacy_kind kind_by_name(const char *name) {
    const char *dot = strrchr(name, '.');
    return !dot                                ? LEGACY_NONE
           : ascii_casecmp(dot, ".traj") == 0  ? LEGACY_FRAME
           : ascii_casecmp(dot, ".state") == 0 ? LEGACY_STATE
                                               : LEGACY_NONE;
}

/* Decides by the first tag of a message: GetFrameResponse begins with a varint 1 or a message 2, StateUpdate with a
 * message 1. */
static enum legacy_kind kind_by_tag(uint8_t tag) {
    return tag == (FRAME_INDEX << 3 | 0) || tag == (FRAME_DATA << 3 | 2) ? LEGACY_FRAME
           : tag == (STATE_CHANGED << 3 | 2)                             ? LEGACY_STATE
                                                                         : LEGACY_NONE;
}

/* Decides by the first message that is not empty. */
static bool kind_by_content(struct reel_source *source, enum legacy_kind *kind, struct reel_error *err) {
    uint64_t at = LEGACY_HEADER_SIZE;
    *kind = LEGACY_NONE;
    for (unsigned i = 0; i < KIND_RECORDS_MAX && *kind == LEGACY_NONE; i++) {
        uint8_t head[LEGACY_RECORD_SIZE + 1];
        if (source->size < at || source->size - at < sizeof head) {
            return true;
        }
        if (!reel_source_read(source, at, head, sizeof head, err)) {
            return false;
        }
        struct header h = header_of(head);
        if (h.size > source->size - at - LEGACY_RECORD_SIZE) {
            return true;
        }
        *kind = h.size > 0 ? kind_by_tag(head[LEGACY_RECORD_SIZE]) : LEGACY_NONE;
        at += LEGACY_RECORD_SIZE + h.size;
    }
    return true;
}

/* A tag that a message of this kind may begin with. */
static bool tag_fits(enum legacy_kind kind, uint8_t tag) {
    return kind == LEGACY_BARE ? tag == (DATA_VALUES << 3 | 2) || tag == (DATA_ARRAYS << 3 | 2)
                               : kind_by_tag(tag) == kind;
}

/* Version 1 has no header: its name says what it is, and its records must be possible ones, up to the first that is not
 * empty at least. LEGACY_NONE: it is none. */
static bool kind_of_version_1(struct reel_source *source, enum legacy_kind *kind, struct reel_error *err) {
    enum legacy_kind named = kind_by_name(source->name);
    struct header h = {.size = 0};
    uint64_t at = 0, before_us = 0;
    named = named == LEGACY_FRAME ? LEGACY_BARE : named;
    *kind = LEGACY_NONE;
    for (unsigned i = 0; i < KIND_RECORDS_MAX && named != LEGACY_NONE && h.size == 0; i++) {
        uint8_t head[LEGACY_RECORD_SIZE + 1];
        if (source->size < at || source->size - at < sizeof head) {
            return true;
        }
        if (!reel_source_read(source, at, head, sizeof head, err)) {
            return false;
        }
        h = header_of(head);
        if (!is_plausible(&h, before_us, source->size - at)) {
            return true;
        }
        *kind = h.size > 0 && tag_fits(named, head[LEGACY_RECORD_SIZE]) ? named : LEGACY_NONE;
        before_us = h.time_us;
        at += LEGACY_RECORD_SIZE + h.size;
    }
    return true;
}

/* The messages decide before the name. A file that neither decides counts as a .state, whose empty messages change
 * nothing. */
static bool nanover_kind_of(struct reel_source *source, enum legacy_kind *kind, struct reel_error *err) {
    if (!kind_by_content(source, kind, err)) {
        return false;
    }
    if (*kind == LEGACY_NONE) {
        *kind = kind_by_name(source->name);
    }
    *kind = *kind == LEGACY_NONE ? LEGACY_STATE : *kind;
    return true;
}

/* --- records --- */

/* *yes: a record begins at `at`, or the file ends there. */
static bool follows(struct part *p, uint64_t at, uint64_t from_us, bool *yes, struct reel_error *err) {
    uint8_t head[LEGACY_RECORD_SIZE];
    uint64_t left = p->source->size - at;
    *yes = left == 0;
    if (left < sizeof head) {
        return true;
    }
    if (!reel_source_read(p->source, at, head, sizeof head, err)) {
        return false;
    }
    struct header h = header_of(head);
    *yes = is_plausible(&h, from_us, left);
    return true;
}

/* *yes: a plausible header, a message of this kind, and then another record or the end of the file. */
static bool begins_here(struct part *p, uint64_t at, bool *yes, struct reel_error *err) {
    const uint8_t *head = window_at(&p->window, at, LEGACY_RECORD_SIZE + 1, err);
    if (!head) {
        return false;
    }
    struct header h = header_of(head);
    *yes = h.size > 0 && is_plausible(&h, p->taken > 0 ? p->last_us : h.time_us, p->source->size - at) &&
           tag_fits(p->kind, head[LEGACY_RECORD_SIZE]);
    return !*yes || follows(p, at + LEGACY_RECORD_SIZE + h.size, h.time_us, yes, err);
}

static bool report_progress(struct part *p, uint64_t at, struct reel_error *err) {
    if (at - p->reported < PROGRESS_BYTES) {
        return true;
    }
    p->reported = at;
    return reel_scan_progress(p->scan, p->before + at, p->total, err);
}

/* Goes on at the first record from `from` on, and reports what is between as lost because of `why`. */
static bool resume(struct part *p, uint64_t from, const char *why, struct reel_error *err) {
    uint64_t begin = p->at, size = p->source->size;
    bool found = false;
    for (p->at = from; p->at + LEGACY_RECORD_SIZE < size && p->converted <= CONVERTED_MAX * size; p->at++) {
        if (!begins_here(p, p->at, &found, err) || !report_progress(p, p->at, err)) {
            return false;
        }
        if (found) {
            break;
        }
    }
    p->at = found ? p->at : size;
    reel_scan_finding(p->scan, REEL_LOSS, p->number, begin, p->at - begin, "record at %" PRIu64 ": %s%s", begin, why,
                      found ? "" : "; no record follows");
    return true;
}

static bool report_name(struct part *p, const struct nanover_message *m, struct reel_error *err) {
    if (p->named || m->simulation_name.size == 0 || m->simulation_name.size >= REEL_TEXT_MAX) {
        return true;
    }
    p->named = true;
    return reel_scan_metadata(p->scan, "system.simulation.name", m->simulation_name, err);
}

static bool emit_entry(struct part *p, const struct header *h, const struct nanover_message *m, size_t converted,
                       struct reel_error *err) {
    bool reset = m->has_frame_index && m->frame_index == 0;
    uint32_t set;
    if (!nanover_key_sets_id(&p->sets, &p->keys, &set, err) || !report_name(p, m, err)) {
        return false;
    }
    struct reel_entry entry = {.time_ns = (int64_t)h->time_us * 1000,
                               .channel = p->channel,
                               .chunk = p->chunk,
                               .offset = p->at + LEGACY_RECORD_SIZE,
                               .size = (uint32_t)h->size};
    entry.extra[0] = legacy_keep_size(converted) | (uint64_t)set << 1 | (uint64_t)reset;
    entry.extra[1] = m->has_frame_index ? m->frame_index + 1 : 0;
    p->back += p->taken > 0 && h->time_us < p->last_us;
    p->unknown += p->converter.unknown;
    p->text += (m->quirks & UINT32_C(1) << QUIRK_TEXT) != 0;
    p->last_us = h->time_us;
    p->taken++;
    p->at += LEGACY_RECORD_SIZE + h->size;
    return reel_scan_entry(p->scan, &entry, err);
}

/* Converts the message to MessagePack and reads its keys; *whole is false, with `why`, when it is damaged. */
static bool nanover_read_message(struct part *p, const struct header *h, struct nanover_message *m, size_t *size,
                                 bool *whole, struct reel_error *why, struct reel_error *err) {
    const uint8_t *data = window_at(&p->window, p->at + LEGACY_RECORD_SIZE, (size_t)h->size, err);
    struct reel_bytes out;
    if (!data) {
        return false;
    }
    p->converted += h->size;
    *whole = legacy_convert(&p->converter, p->kind, bytes_of(data, (size_t)h->size), &out, why);
    if (!*whole) {
        return why->code == REEL_DAMAGED || reel_fail_memory(err);
    }
    *size = out.size;
    const char *problem;
    struct cursor c = cursor_of(out);
    *whole = nanover_message_read(&c, m, &p->keys, &problem) == MSGPACK_OK ||
             (reel_fail(why, REEL_DAMAGED, "%s", problem), false);
    return true;
}

static bool lose_message(struct part *p, const struct header *h, const struct reel_error *why, struct reel_error *err) {
    uint64_t end = p->at + LEGACY_RECORD_SIZE + h->size;
    char text[128];
    bool next;
    snprintf(text, sizeof text, "its message %.100s", why->text);
    if (!follows(p, end, h->time_us, &next, err)) {
        return false;
    }
    if (!next) {
        return resume(p, p->at + LEGACY_RECORD_SIZE, text, err);
    }
    reel_scan_finding(p->scan, REEL_LOSS, p->number, p->at, end - p->at, "record at %" PRIu64 ": %s", p->at, text);
    p->at = end;
    return true;
}

/* Reports the remaining bytes as lost: the last record is cut or damaged. */
static bool lose_record(struct part *p, const struct header *h, uint64_t left, struct reel_error *err) {
    char text[128];
    if (left < LEGACY_RECORD_SIZE) {
        reel_scan_finding(p->scan, REEL_LOSS, p->number, p->at, left,
                          "record at %" PRIu64 ": cut, %" PRIu64 " of the %d bytes of its header", p->at, left,
                          LEGACY_RECORD_SIZE);
        p->at = p->source->size;
        return true;
    }
    if (h->upper != 0 || h->time_us > TIME_MAX_US) {
        snprintf(text, sizeof text, "its timestamp is not a valid time");
    } else if (h->size > left - LEGACY_RECORD_SIZE) {
        snprintf(text, sizeof text, "cut, %" PRIu64 " of the %" PRIu64 " bytes of its message",
                 left - LEGACY_RECORD_SIZE, h->size);
    } else {
        snprintf(text, sizeof text, "its message has %" PRIu64 " bytes, more than the %d that one may have", h->size,
                 REEL_LEGACY_MESSAGE_MAX);
    }
    return resume(p, p->at + 1, text, err);
}

static bool walk_record(struct part *p, struct reel_error *err) {
    uint64_t left = p->source->size - p->at;
    struct header h = {.size = 0};
    if (left >= LEGACY_RECORD_SIZE) {
        const uint8_t *head = window_at(&p->window, p->at, LEGACY_RECORD_SIZE, err);
        if (!head) {
            return false;
        }
        h = header_of(head);
    }
    if (left < LEGACY_RECORD_SIZE || h.upper != 0 || h.time_us > TIME_MAX_US || h.size > left - LEGACY_RECORD_SIZE ||
        h.size > REEL_LEGACY_MESSAGE_MAX) {
        return lose_record(p, &h, left, err);
    }
    struct nanover_message m;
    struct reel_error why = {.code = REEL_OK};
    size_t converted = 0;
    bool whole;
    if (!nanover_read_message(p, &h, &m, &converted, &whole, &why, err)) {
        return false;
    }
    return whole ? emit_entry(p, &h, &m, converted, err) : lose_message(p, &h, &why, err);
}

/* --- parts --- */

static bool nanover_legacy_scan_add_channel(struct part *p, struct reel_error *err) {
    static const char *const types[] = {
        [LEGACY_FRAME] = "GetFrameResponse", [LEGACY_STATE] = "StateUpdate", [LEGACY_BARE] = "FrameData"};
    const char *name = p->kind == LEGACY_STATE ? "state" : "frame";
    struct reel_schema schema = {.name = types[p->kind], .encoding = "", .hash = ""};
    struct reel_channel channel = {
        .name = name, .type = schema.name, .encoding = NANOVER_LEGACY_ENCODING, .schemas = &schema, .n_schemas = 1};
    return reel_scan_channel(p->scan, &channel, &p->channel, err);
}

static void nanover_report_counts(const struct part *p) {
    const struct {
        uint64_t count;
        enum reel_severity severity;
        const char *text;
    } reported[] = {{p->back, REEL_WARNING, "are earlier than the message before"},
                    {p->text, REEL_WARNING, "hold text that is not valid UTF-8"},
                    {p->unknown, REEL_NOTE, "have unknown fields: a conversion drops them"}};
    for (size_t i = 0; i < sizeof reported / sizeof *reported; i++) {
        if (reported[i].count > 0) {
            reel_scan_finding(p->scan, reported[i].severity, p->number, 0, 0, "%" PRIu64 " message(s) %s",
                              reported[i].count, reported[i].text);
        }
    }
    enum legacy_kind named = kind_by_name(p->source->name);
    if (named != LEGACY_NONE && (named == LEGACY_STATE) != (p->kind == LEGACY_STATE)) {
        reel_scan_finding(p->scan, REEL_NOTE, p->number, 0, 0, "the messages are those of a %s, whatever its name says",
                          p->kind == LEGACY_STATE ? ".state" : ".traj");
    }
}

static bool scan_part(struct part *p, struct reel_error *err) {
    if (!nanover_legacy_scan_add_channel(p, err) || !window_open(&p->window, p->source, REEL_WINDOW_BYTES, err)) {
        return false;
    }
    for (p->at = p->first; p->at < p->source->size;) {
        if (!walk_record(p, err) || !report_progress(p, p->at, err)) {
            return false;
        }
    }
    nanover_report_counts(p);
    return true;
}

/* What the file is, and where its records begin. */
static bool recognise(struct reel_source *source, enum legacy_kind *kind, uint64_t *first, struct reel_error *err) {
    uint8_t head[LEGACY_HEADER_SIZE];
    *first = LEGACY_HEADER_SIZE;
    if (source->size < sizeof head) {
        return reel_fail(err, REEL_NOT_MINE, "%s: %" PRIu64 " bytes are no NanoVer recording", source->name,
                         source->size);
    }
    if (!reel_source_read(source, 0, head, sizeof head, err)) {
        return false;
    }
    if (load_u64le(head) != LEGACY_MAGIC) {
        *first = 0;
        return kind_of_version_1(source, kind, err) &&
               (*kind != LEGACY_NONE ||
                reel_fail(err, REEL_UNSUPPORTED,
                          "%s has no header, and no records as version 1 (before July 2023) begins with: it is no "
                          "NanoVer recording",
                          source->name));
    }
    uint64_t version = load_u64le(head + 8);
    return version == LEGACY_VERSION
               ? nanover_kind_of(source, kind, err)
               : reel_fail(err, REEL_UNSUPPORTED,
                           "%s is of version %" PRIu64 " of the format; only versions 1 and %d are read", source->name,
                           version, LEGACY_VERSION);
}

/* At equal times frames come before states. Entries of equal time are ordered by chunk, so a .state given before its
 * .traj is addressed as a chunk of its own, after both. */
static bool choose_chunk(struct reel_scan *scan, const enum legacy_kind *kinds, struct part *p,
                         struct reel_error *err) {
    p->chunk = p->number;
    if (p->kind != LEGACY_STATE || p->number + 1 >= scan->n_parts || kinds[p->number + 1] == LEGACY_STATE) {
        return true;
    }
    struct reel_chunk whole = {
        .part = p->number, .codec = REEL_CODEC_NONE, .stored = p->source->size, .raw = p->source->size};
    return reel_scan_chunk(scan, &whole, &p->chunk, err);
}

static bool legacy_scan(struct reel_scan *scan, struct reel_error *err) {
    enum legacy_kind kinds[2];
    uint64_t first[2], total = 0, before = 0;
    if (scan->n_parts > 2) {
        return reel_fail(err, REEL_UNSUPPORTED, "a .traj and its .state are two files, here are %u", scan->n_parts);
    }
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        if (!recognise(scan->parts[i], &kinds[i], &first[i], err)) {
            return false;
        }
        total += scan->parts[i]->size;
    }
    if (scan->n_parts == 2 && (kinds[0] == LEGACY_STATE) == (kinds[1] == LEGACY_STATE)) {
        return reel_fail(err, REEL_UNSUPPORTED, "%s and %s are both a %s", scan->parts[0]->name, scan->parts[1]->name,
                         kinds[0] == LEGACY_STATE ? ".state" : ".traj");
    }
    for (uint32_t i = 0; i < scan->n_parts; i++) {
        AUTO(part_done)
        struct part p = {.scan = scan,
                         .source = scan->parts[i],
                         .number = i,
                         .kind = kinds[i],
                         .first = first[i],
                         .before = before,
                         .total = total};
        if (!choose_chunk(scan, kinds, &p, err) || !scan_part(&p, err)) {
            return false;
        }
        before += p.source->size;
    }
    reel_scan_container(scan, first[0] == 0 ? "version 1" : "version 2");
    reel_scan_clock(scan, REEL_CLOCK_RELATIVE, "timestamps count from the start of the recorder");
    return true;
}

/* --- the format --- */

static int legacy_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    bool magic = head.size >= LEGACY_HEADER_SIZE && load_u64le(head.data) == LEGACY_MAGIC;
    enum legacy_kind kind = LEGACY_NONE;
    return magic ? 64 : !kind_of_version_1(source, &kind, err) ? -1 : kind != LEGACY_NONE ? 16 : 0;
}

static size_t stem_size(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : strlen(name);
}

/* True for a .traj and a .state with the same name. */
static bool legacy_joins(struct reel_source *a, struct reel_source *b) {
    struct reel_error err;
    enum legacy_kind x, y;
    uint64_t first;
    size_t stem = stem_size(a->name);
    return stem == stem_size(b->name) && memcmp(a->name, b->name, stem) == 0 && recognise(a, &x, &first, &err) &&
           recognise(b, &y, &first, &err) && (x == LEGACY_STATE) != (y == LEGACY_STATE);
}

const struct reel_format reel_format_nanover_legacy = {
    .name = "nanover_legacy",
    .title = "NanoVer (.traj, .state)",
    .media_type = "application/octet-stream",
    .suffixes = (const char *const[]){".traj", ".state", NULL},
    .probe = legacy_probe,
    .scan = legacy_scan,
    .joins = legacy_joins,
    .contract = NANOVER_CONTRACT,
    .version = 1,
};
