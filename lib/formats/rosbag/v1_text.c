/* Text-header logs of 2008 and 2009 (versions 0, 1.0 and 1.1). Their records have no total length: after damage a scan
 * goes on at the next text that begins a record. Records of version 0 have no text; v1_log_0.c recognises them by their
 * stamps. */
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/hex.h"
#include "formats/rosbag/v1.h"

#include <stdlib.h>

enum {
    RECORD_TAIL = ROSBAG_V1_STAMP + 4, /* sec, nsec, len */
    SEARCH_HEAD = 1024,                /* bytes read to recognise the text of a record */
};

struct lines {
    struct reel_bytes line[3];
    uint32_t size; /* of all, with their newlines */
};

static bool is_text(struct reel_bytes line) {
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] < 0x20 || line.data[i] == 0x7f) {
            return false;
        }
    }
    return line.size > 0;
}

static bool lines_split(struct reel_bytes from, unsigned n, struct lines *out) {
    *out = (struct lines){0};
    for (unsigned i = 0; i < n; i++) {
        struct reel_bytes rest = bytes_of(from.data + out->size, from.size - out->size);
        const uint8_t *end = memchr(rest.data, '\n', rest.size < ROSBAG_V1_LINE_MAX ? rest.size : ROSBAG_V1_LINE_MAX);
        if (!end) {
            return false;
        }
        out->line[i] = bytes_of(rest.data, (size_t)(end - rest.data));
        out->size += (uint32_t)out->line[i].size + 1;
        if (!is_text(out->line[i])) {
            return false;
        }
    }
    return true;
}

static bool is_md5(struct reel_bytes line) {
    for (size_t i = 0; i < line.size; i++) {
        if (hex_digit((char)line.data[i]) < 0) {
            return false;
        }
    }
    return line.size == 32;
}

/* topic, then md5 and type in either order: 32 hex digits are a sum, a slash makes a type. */
static struct rosbag_v1_fields names_of(const struct lines *lines) {
    struct reel_bytes a = lines->line[1], b = lines->line[2];
    bool swapped = !is_md5(a) && (is_md5(b) || (memchr(a.data, '/', a.size) && !memchr(b.data, '/', b.size)));
    return (struct rosbag_v1_fields){.topic = lines->line[0], .md5 = swapped ? b : a, .type = swapped ? a : b};
}

static bool names_plausible(const struct rosbag_v1_fields *f) {
    for (size_t i = 0; i < f->topic.size; i++) {
        if (!ascii_is_alnum(f->topic.data[i]) && !memchr("/_~-.", f->topic.data[i], 5)) {
            return false;
        }
    }
    return (is_md5(f->md5) || bytes_is(f->md5, "*")) && memchr(f->type.data, '/', f->type.size);
}

bool rosbag_v1_text_plausible(struct reel_bytes head, uint64_t file_size) {
    struct lines lines;
    if (head.size == 0 || head.data[0] == '#' || !lines_split(head, 3, &lines)) {
        return false;
    }
    struct rosbag_v1_fields f = names_of(&lines);
    if (!names_plausible(&f)) {
        return false;
    }
    if (head.size - lines.size < RECORD_TAIL) {
        return file_size == lines.size && is_md5(f.md5);
    }
    const uint8_t *p = head.data + lines.size;
    return load_u32le(p + 4) < ROSBAG_V1_NS_PER_SEC && load_u32le(p + 8) <= file_size - lines.size - RECORD_TAIL;
}

static bool lines_at(struct rosbag_v1 *bag, unsigned n, struct lines *out, struct reel_error *err) {
    uint64_t left = bag->source->size - bag->at;
    size_t wanted = (size_t)n * ROSBAG_V1_LINE_MAX + RECORD_TAIL;
    wanted = left < wanted ? (size_t)left : wanted;
    const uint8_t *p = window_at(&bag->window, bag->at, wanted, err);
    if (!p) {
        return false;
    }
    return lines_split(bytes_of(p, wanted), n, out) ||
           reel_fail(err, REEL_DAMAGED, "record at %llu: %u line%s of text expected", (unsigned long long)bag->at, n,
                     n == 1 ? "" : "s");
}

static void truncated(struct rosbag_v1 *bag, const struct reel_error *why) {
    uint64_t size = bag->source->size;
    reel_scan_finding(bag->scan, REEL_LOSS, 0, bag->at, size - bag->at, "truncated at byte %llu: %s",
                      (unsigned long long)bag->at, why->text);
    bag->at = size;
}

/* The channel of a record: from its own lines (1.1), from the file's head (1.0), or the file's only one (0). */
static struct rosbag_v1_channel *channel_at(struct rosbag_v1 *bag, enum rosbag_v1_log log, struct hash_table *declared,
                                            struct lines *lines, struct reel_error *err) {
    if (log == ROSBAG_V1_LOG_0) {
        *lines = (struct lines){0};
        return bag->channels;
    }
    if (!lines_at(bag, log == ROSBAG_V1_LOG_11 ? 3 : 1, lines, err)) {
        return NULL;
    }
    struct rosbag_v1_fields f = {.topic = lines->line[0]};
    if (log == ROSBAG_V1_LOG_11) {
        f = names_of(lines);
    } else {
        struct rosbag_v1_channel *known = (void *)hash_table_get(declared, hash_key_bytes(f.topic));
        if (known) {
            return known;
        }
        f.md5 = f.type = bytes_text("*");
    }
    return rosbag_v1_channel_of(bag, &f, bag->at, err);
}

static bool record_take(struct rosbag_v1 *bag, enum rosbag_v1_log log, struct hash_table *declared,
                        struct reel_error *err) {
    struct lines lines;
    struct rosbag_v1_channel *channel = channel_at(bag, log, declared, &lines, err);
    if (!channel) {
        return false;
    }
    uint64_t left = bag->source->size - bag->at - lines.size;
    if (left < RECORD_TAIL) {
        return reel_fail(err, REEL_DAMAGED, "record at %llu: its stamp and length are cut",
                         (unsigned long long)bag->at);
    }
    const uint8_t *p = window_at(&bag->window, bag->at, lines.size + RECORD_TAIL, err);
    if (!p) {
        return false;
    }
    const uint8_t *stamp = p + lines.size;
    const struct rosbag_v1_place record = {
        .at = bag->at, .head = lines.size + RECORD_TAIL, .size = load_u32le(stamp + ROSBAG_V1_STAMP)};
    if (record.size > left - RECORD_TAIL) {
        return reel_fail(err, REEL_DAMAGED, "record at %llu: data length %u exceeds the file",
                         (unsigned long long)bag->at, record.size);
    }
    const struct rosbag_v1_template seen = {
        .channel = channel, .size = lines.size + ROSBAG_V1_STAMP, .sec_at = lines.size, .nsec_at = lines.size + 4};
    uint32_t sec = load_u32le(stamp), nsec = load_u32le(stamp + 4);
    bool sound = true;
    if (log == ROSBAG_V1_LOG_0 &&
        !rosbag_v1_log_0_check(bag, rosbag_v1_time(sec, nsec), record.at + record.head + record.size, &sound, err)) {
        return false;
    }
    if (!sound) {
        return reel_fail(err, REEL_DAMAGED, "record at %llu: neither its stamp nor what follows it is right",
                         (unsigned long long)bag->at);
    }
    bag->last = bag->at + record.head;
    bag->at = bag->last + record.size;
    return rosbag_v1_message(bag, channel, &record, sec, nsec, err) &&
           (log == ROSBAG_V1_LOG_0 || rosbag_v1_learn(bag, &seen, p, err));
}

/* --- going on after damage --- */

struct text_search {
    struct rosbag_v1 *bag;
    enum rosbag_v1_log log;
    const struct hash_table *declared;
};

/* True for the text of a known record or, in 1.1, for text that has the form of one: it may begin anywhere, at a slash.
 * *size: of the text. */
static bool is_head(const struct text_search *s, struct reel_bytes text, bool anywhere, uint32_t *size) {
    struct lines lines;
    if (!lines_split(text, s->log == ROSBAG_V1_LOG_11 ? 3 : 1, &lines)) {
        return false;
    }
    *size = lines.size;
    if (s->log == ROSBAG_V1_LOG_10) {
        return hash_table_get(s->declared, hash_key_bytes(lines.line[0])) != 0;
    }
    struct rosbag_v1_fields f = names_of(&lines);
    for (const struct rosbag_v1_connection *c = s->bag->connections; c; c = c->next) {
        if (bytes_equal(c->topic_name, f.topic) && bytes_equal(c->md5, f.md5) && bytes_equal(c->type, f.type)) {
            return true;
        }
    }
    return (!anywhere || f.topic.data[0] == '/') && names_plausible(&f);
}

/* A record with plausible stamp and length, followed by the text of another one or by the end of the file. */
static bool is_record_at(const struct text_search *s, struct window *w, uint64_t at, bool *yes,
                         struct reel_error *err) {
    uint64_t size = s->bag->source->size;
    *yes = false;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t head;
        size_t room = size - at < SEARCH_HEAD + RECORD_TAIL ? (size_t)(size - at) : SEARCH_HEAD + RECORD_TAIL;
        const uint8_t *p = window_at(w, at, room, err);
        if (!p) {
            return false;
        }
        if (!is_head(s, bytes_of(p, room), i == 0, &head)) {
            return true;
        }
        bool cut = head + RECORD_TAIL > room;
        uint64_t payload = cut ? 0 : load_u32le(p + head + ROSBAG_V1_STAMP),
                 left = cut ? 0 : size - at - head - RECORD_TAIL;
        if (i == 0 && (cut || load_u32le(p + head + 4) >= ROSBAG_V1_NS_PER_SEC || payload > left)) {
            return true;
        }
        at += head + RECORD_TAIL + payload;
        if (i == 0 && at == size) {
            break;
        }
    }
    *yes = true;
    return true;
}

/* Tries every byte that may begin a topic's name, within the allowance. */
static bool find_record(const struct text_search *s, uint64_t from, uint64_t *found, struct reel_error *err) {
    struct rosbag_v1 *bag = s->bag;
    bool begins[256] = {['/'] = true};
    for (const struct rosbag_v1_connection *c = bag->connections; c; c = c->next) {
        begins[c->topic_name.size > 0 ? c->topic_name.data[0] : '/'] = true;
    }
    AUTO_STRUCT(window_close) struct window peek = {0};
    *found = ROSBAG_V1_NOWHERE;
    if (!window_open(&peek, bag->source, 2 * (SEARCH_HEAD + RECORD_TAIL), err)) {
        return false;
    }
    for (uint64_t at = from; at < bag->source->size && bag->search_left > 0; at++) {
        const uint8_t *p = window_at(&bag->window, at, 1, err);
        if (!p || !rosbag_v1_progress(bag, at, err)) {
            return false;
        }
        bag->search_left--;
        if (!begins[*p]) {
            continue;
        }
        enum { LOOK = 32 }; /* cost of a closer check, in bytes of the allowance */
        bag->search_left -= bag->search_left < LOOK ? bag->search_left : LOOK;
        bool yes;
        if (!is_record_at(s, &peek, at, &yes, err)) {
            return false;
        }
        if (yes) {
            *found = at;
            return true;
        }
    }
    return true;
}

/* The record at bag->at is damaged, or the length of the one before it is. */
static bool rosbag_go_on(const struct text_search *s, const struct reel_error *why, struct reel_error *err) {
    struct rosbag_v1 *bag = s->bag;
    uint64_t from = bag->at, after = bag->last > 0 && bag->last <= from ? bag->last : from + 1,
             found = ROSBAG_V1_NOWHERE;
    if (s->log == ROSBAG_V1_LOG_0 ? !rosbag_v1_log_0_find(bag, after, &found, err)
                                  : !find_record(s, after, &found, err)) {
        return false;
    }
    if (found == ROSBAG_V1_NOWHERE) {
        truncated(bag, why);
        return true;
    }
    if (found <= from) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, 0,
                          "%s; the length of the previous record is wrong: continued at %llu", why->text,
                          (unsigned long long)found);
    } else {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, from, found - from, "%s; bytes %llu to %llu are lost", why->text,
                          (unsigned long long)from, (unsigned long long)found - 1);
    }
    bag->at = found;
    bag->last = 0; /* not searched again */
    return true;
}

/* 1.0: the quantity line, then so many topics. Version 0: one topic. */
static bool head_take(struct rosbag_v1 *bag, enum rosbag_v1_log log, struct hash_table *declared,
                      struct reel_error *err) {
    uint32_t quantity = log == ROSBAG_V1_LOG_0 ? 1 : 0;
    struct lines lines;
    if (log == ROSBAG_V1_LOG_10) {
        if (!lines_at(bag, 1, &lines, err)) {
            return false;
        }
        for (size_t i = 0; i < lines.line[0].size; i++) {
            uint8_t digit = lines.line[0].data[i];
            if (!ascii_is_digit(digit) || (quantity = quantity * 10 + (digit - '0')) > REEL_CHANNELS_MAX) {
                return reel_fail(err, REEL_DAMAGED, "the quantity line at %llu holds no sensible number of topics",
                                 (unsigned long long)bag->at);
            }
        }
        bag->at += lines.size;
    }
    for (uint32_t i = 0; i < quantity; i++) {
        if (!lines_at(bag, 3, &lines, err)) {
            return false;
        }
        struct rosbag_v1_fields f = names_of(&lines);
        struct rosbag_v1_channel *c = rosbag_v1_channel_of(bag, &f, bag->at, err);
        if (!c || (!hash_table_get(declared, hash_key_bytes(c->connection->topic_name)) &&
                   !hash_table_set(declared, hash_key_bytes(c->connection->topic_name), (uintptr_t)c, err))) {
            return false;
        }
        bag->at += lines.size;
    }
    return true;
}

static bool rosbag_v1_text_walk_(struct rosbag_v1 *bag, enum rosbag_v1_log log, struct hash_table *declared,
                                 struct reel_error *err) {
    const struct text_search search = {.bag = bag, .log = log, .declared = declared};
    struct reel_error why = {0};
    if (!head_take(bag, log, declared, &why)) {
        if (why.code != REEL_DAMAGED) {
            return reel_error_pass(err, &why);
        }
        truncated(bag, &why);
    }
    while (bag->at < bag->source->size) {
        if (!rosbag_v1_progress(bag, bag->at, err) || !rosbag_v1_walk_known(bag, err)) {
            return false;
        }
        if (bag->at >= bag->source->size || record_take(bag, log, declared, &why)) {
            continue;
        }
        if (why.code != REEL_DAMAGED) {
            return reel_error_pass(err, &why);
        }
        if (!rosbag_go_on(&search, &why, err)) {
            return false;
        }
    }
    return true;
}

bool rosbag_v1_text_walk(struct rosbag_v1 *bag, enum rosbag_v1_log log, struct reel_error *err) {
    struct hash_table declared = {0};
    bool ok = rosbag_v1_text_walk_(bag, log, &declared, err);
    hash_table_free(&declared);
    reel_scan_finding(bag->scan, REEL_NOTE, 0, 0, 0, "logs of this age hold no message definitions");
    return ok;
}
