/* Reads Header, Attachment and Metadata records. An attachment is reported by its position in the file and never
 * copied; one with a wrong CRC is left out. */
#include "base/bytes.h"
#include "formats/mcap/read.h"

#include <stdio.h>

enum { ATTACHMENT_FIELDS = 8 + 8 + 4 + 4 + 8, ATTACHMENT_HEAD_MAX = ATTACHMENT_FIELDS + 2 * REEL_TEXT_MAX };

/* ---- metadata ---- */

static bool mcap_extras_add_pair(struct mcap *m, const char *key, const char *value, struct reel_error *err) {
    if (m->pairs >= REEL_METADATA_MAX) {
        m->pairs++;
        return m->pairs > REEL_METADATA_MAX + 1 ||
               reel_scan_finding(m->scan, REEL_LOSS, m->part, m->at, 0,
                                 "more than %d values of metadata: the others are dropped", REEL_METADATA_MAX);
    }
    m->pairs++;
    return reel_scan_metadata(m->scan, key, bytes_text(value), err);
}

bool mcap_take_header(struct mcap *m, struct reel_bytes content, struct reel_error *err) {
    struct cursor c = cursor_of(content);
    struct reel_bytes profile = cursor_string32(&c), library = cursor_string32(&c);
    if (c.failed) {
        return reel_fail(err, REEL_DAMAGED, "a header whose fields do not fit");
    }
    if (m->at != MCAP_MAGIC_SIZE) {
        return reel_scan_finding(m->scan, REEL_WARNING, m->part, m->at, 0, "another header, at %llu, is not used",
                                 (unsigned long long)m->at);
    }
    m->own = bytes_start(library, bytes_text("reel ")); /* then profile and library are those of the writer, not of the
                                                           recording */
    if (m->own || m->done_before > 0) {
        return true;
    }
    const char *profile_text = arena_utf8(&m->arena, profile), *library_text = arena_utf8(&m->arena, library);
    if (!profile_text || !library_text) {
        return mcap_no_room(m, err);
    }
    return (profile.size == 0 || mcap_extras_add_pair(m, MCAP_PROFILE_KEY, profile_text, err)) &&
           (library.size == 0 || mcap_extras_add_pair(m, MCAP_LIBRARY_KEY, library_text, err));
}

/* Adds the pairs of a record NAME as NAME:key; pairs of Reel's own record keep their keys. A record without pairs
 * becomes "NAME:". */
bool mcap_take_metadata(struct mcap *m, struct reel_bytes content, struct reel_error *err) {
    struct cursor c = cursor_of(content);
    struct reel_bytes name = cursor_string32(&c), map = cursor_string32(&c);
    struct reel_pairs pairs;
    m->found.metadata++;
    m->found.metadata_sum += mix_step(mix_step(m->at, MCAP_RECORD_HEAD + content.size), hash_bytes(0, name));
    if (c.failed || name.size > REEL_TEXT_MAX) {
        return reel_fail(err, REEL_DAMAGED, "a metadata record whose fields do not fit");
    }
    bool own = bytes_is(name, MCAP_METADATA_NAME);
    const char *prefix = arena_utf8(&m->arena, name);
    if (!prefix) {
        return mcap_no_room(m, err);
    }
    if (!mcap_pairs(m, map, &pairs, err)) {
        return reel_error_at(err, "metadata %.64s", prefix);
    }
    for (size_t i = 0; i < pairs.count || (i == 0 && !own); i++) {
        const char *key = pairs.count > 0 ? pairs.items[i].key : "",
                   *value = pairs.count > 0 ? pairs.items[i].value : "";
        if (own && strcmp(key, MCAP_CLOCK_KEY) == 0) {
            reel_scan_clock(m->scan, strcmp(value, MCAP_CLOCK_RELATIVE) == 0 ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL,
                            "as the file's metadata says");
            continue;
        }
        size_t room = strlen(prefix) + strlen(key) + 2;
        char *whole = own ? NULL : arena_alloc(&m->arena, room);
        if (!own && !whole) {
            return mcap_no_room(m, err);
        }
        if (whole) {
            snprintf(whole, room, "%s:%s", prefix, key);
        }
        if (!mcap_extras_add_pair(m, whole ? whole : key, value, err)) {
            return false;
        }
    }
    return true;
}

/* The index has only the record's name, so the record itself is read. */
bool mcap_indexed_metadata(struct mcap *m, const struct mcap_metadata_index *is, struct reel_error *err) {
    if (is->length < MCAP_RECORD_HEAD) {
        return reel_fail(err, REEL_DAMAGED, "the metadata at %llu has %llu bytes", (unsigned long long)is->at,
                         (unsigned long long)is->length);
    }
    uint8_t *p = arena_alloc(&m->arena, (size_t)is->length);
    if (!p) {
        return mcap_no_room(m, err);
    }
    if (!reel_source_read(m->source, is->at, p, (size_t)is->length, err)) {
        return false;
    }
    struct reel_bytes content = bytes_of(p + MCAP_RECORD_HEAD, (size_t)is->length - MCAP_RECORD_HEAD);
    struct cursor c = cursor_of(content);
    if (p[0] != MCAP_METADATA || load_u64le(p + 1) != content.size || !bytes_equal(cursor_string32(&c), is->name)) {
        return reel_fail(err, REEL_DAMAGED, "the record at %llu is not the metadata that its index lists",
                         (unsigned long long)is->at);
    }
    uint64_t back = m->at;
    m->at = is->at; /* findings use this position */
    bool good = mcap_take_metadata(m, content, err);
    m->at = back;
    return good;
}

/* ---- attachments ---- */

struct attachment {
    uint64_t log_time, create_time, data_at, size;
    struct reel_bytes name, media_type; /* both point into the window */
};

static bool read_attachment(struct mcap *m, uint64_t length, struct attachment *a, struct reel_error *err) {
    uint64_t at = m->at + MCAP_RECORD_HEAD;
    size_t there = length < ATTACHMENT_HEAD_MAX ? (size_t)length : ATTACHMENT_HEAD_MAX;
    const uint8_t *p = window_at(&m->window, at, there, err);
    if (!p) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(p, there));
    a->log_time = cursor_u64le(&c);
    a->create_time = cursor_u64le(&c);
    a->name = cursor_string32(&c);
    a->media_type = cursor_string32(&c);
    a->size = cursor_u64le(&c);
    a->data_at = at + (uint64_t)(c.at - p);
    uint64_t fields = a->data_at - at;
    if (c.failed || a->name.size > REEL_TEXT_MAX || a->media_type.size > REEL_TEXT_MAX || length - fields < 4 ||
        a->size > length - fields - 4) {
        return reel_fail(err, REEL_DAMAGED, "an attachment whose fields do not fit");
    }
    m->found.attachment_sum += mcap_attachment_hash(m->at, MCAP_RECORD_HEAD + length, a->log_time, a->create_time,
                                                    a->size, hash_bytes(0, a->name));
    return true;
}

static bool attachment_model(struct mcap *m, const struct attachment *a, struct reel_attachment *out,
                             struct reel_error *err) {
    *out = (struct reel_attachment){.name = arena_utf8(&m->arena, a->name),
                                    .media_type = arena_utf8(&m->arena, a->media_type),
                                    .time_ns = a->log_time <= INT64_MAX ? (int64_t)a->log_time : INT64_MAX,
                                    .chunk = m->part,
                                    .offset = a->data_at,
                                    .size = a->size};
    return (out->name && out->media_type) || mcap_no_room(m, err);
}

static bool loss_of(struct mcap *m, uint64_t length, const char *why) {
    return reel_scan_finding(m->scan, REEL_LOSS, m->part, m->at, MCAP_RECORD_HEAD + length, "record at %llu: %s",
                             (unsigned long long)m->at, why);
}

static bool add_attachment(struct mcap *m, const struct reel_attachment *a, uint64_t length, struct reel_error *err) {
    if (m->attachments >= REEL_ATTACHMENTS_MAX) {
        return loss_of(m, length, "more attachments than are taken");
    }
    m->attachments++;
    return reel_scan_attachment(m->scan, a, err);
}

bool mcap_indexed_attachment(struct mcap *m, const struct mcap_attachment_index *is, struct reel_error *err) {
    uint64_t head = MCAP_RECORD_HEAD + ATTACHMENT_FIELDS + is->name.size + is->media_type.size;
    if (is->name.size > REEL_TEXT_MAX || is->media_type.size > REEL_TEXT_MAX || is->length < head + 4 ||
        is->size > is->length - head - 4) {
        return reel_fail(err, REEL_DAMAGED, "the attachment at %llu has no room for what its index says",
                         (unsigned long long)is->at);
    }
    const struct attachment a = {.log_time = is->log_time,
                                 .data_at = is->at + head,
                                 .size = is->size,
                                 .name = is->name,
                                 .media_type = is->media_type};
    struct reel_attachment model;
    return attachment_model(m, &a, &model, err) && reel_scan_attachment(m->scan, &model, err);
}

bool mcap_take_attachment(struct mcap *m, uint64_t length, struct reel_error *err) {
    struct attachment a;
    struct reel_error why = {0};
    uint64_t content = m->at + MCAP_RECORD_HEAD;
    m->found.attachments++;
    if (!read_attachment(m, length, &a, &why)) {
        return why.code == REEL_DAMAGED ? loss_of(m, length, why.text) : reel_error_pass(err, &why);
    }
    struct reel_attachment model;
    if (!attachment_model(m, &a, &model, err)) {
        return false;
    }
    uint32_t crc = 0;
    const uint8_t *p = NULL;
    if (!mcap_crc(&m->window, content, a.data_at + a.size - content, &crc, err) ||
        !(p = window_at(&m->window, a.data_at + a.size, 4, err))) {
        return false;
    }
    uint32_t stated = load_u32le(p);
    if (stated != 0 && stated != crc) {
        char text[128];
        snprintf(text, sizeof text,
                 "attachment \"%.40s\": its CRC is %08x, but %08x is stated: the attachment is dropped", model.name,
                 crc, stated);
        return loss_of(m, length, text);
    }
    return add_attachment(m, &model, length, err);
}
