/* See bag_record.h. A length is used only when that many bytes exist. */
#include "formats/ros/bag_record.h"

#include "base/bytes.h"
#include "base/limits.h"

enum { PEEK_BYTES = 4096, HEADER_MIN = 12, FIELD_MIN = 4 };

typedef unsigned long long ull;

bool rosrecord_head(struct window *window, uint64_t at, const struct rosrecord_bounds *bounds, struct rosrecord *r,
                    struct reel_error *err) {
    uint64_t left = bounds->end - at;
    *r = (struct rosrecord){.at = at, .cut = true};
    if (left < ROSRECORD_MIN) {
        return reel_fail(err, REEL_DAMAGED, "record at %llu: it has only %llu of its bytes", (ull)at, (ull)left);
    }
    const uint8_t *p = window_at(window, at, 4, err);
    if (!p) {
        return false;
    }
    uint32_t header = load_u32le(p);
    if (header > REEL_RECORD_HEADER_MAX) {
        r->cut = false;
        return reel_fail(err, REEL_DAMAGED, "record at %llu: header length %u is over the limit of %d", (ull)at, header,
                         REEL_RECORD_HEADER_MAX);
    }
    if (header > left - ROSRECORD_MIN) {
        return reel_fail(err, REEL_DAMAGED, "record at %llu: header length %u exceeds %s", (ull)at, header, bounds->of);
    }
    if (!(p = window_at(window, at, ROSRECORD_MIN + header, err))) {
        return false;
    }
    r->head = ROSRECORD_MIN + header;
    r->size = load_u32le(p + 4 + header);
    r->cut = false;
    r->header = bytes_of(p + 4, header);
    return true;
}

bool rosrecord_fits(struct rosrecord *r, const struct rosrecord_bounds *bounds, struct reel_error *err) {
    r->cut = r->size > bounds->end - r->at - r->head;
    return !r->cut ||
           reel_fail(err, REEL_DAMAGED, "record at %llu: data length %u exceeds %s", (ull)r->at, r->size, bounds->of);
}

bool rosrecord_field(struct cursor *c, struct reel_bytes *name, struct reel_bytes *value) {
    if (cursor_done(c)) {
        return false;
    }
    struct reel_bytes field = cursor_string32(c);
    const uint8_t *equals = c->failed ? NULL : memchr(field.data, '=', field.size);
    if (!equals) {
        c->failed = true;
        return false;
    }
    *name = bytes_of(field.data, (size_t)(equals - field.data));
    *value = bytes_of(equals + 1, field.size - name->size - 1);
    return true;
}

bool rosrecord_keep(const struct rosrecord_name *known, size_t n, void *fields, struct reel_bytes name,
                    struct reel_bytes value) {
    for (size_t i = 0; i < n; i++) {
        if (known[i].size == name.size && memcmp(known[i].name, name.data, name.size) == 0) {
            memcpy((uint8_t *)fields + known[i].at, &value, sizeof value);
            return true;
        }
    }
    return false;
}

bool rosrecord_printable(struct reel_bytes name) {
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] < 0x20 || name.data[i] > 0x7e) {
            return false;
        }
    }
    return name.size > 0;
}

/* May these be the lengths of a record's header and of its first field? */
static bool lengths_fit(const uint8_t *p) {
    uint32_t header = load_u32le(p), field = load_u32le(p + 4);
    return header - HEADER_MIN <= REEL_RECORD_HEADER_MAX - HEADER_MIN && field - FIELD_MIN <= header - 4 - FIELD_MIN;
}

bool rosrecord_search(const struct rosrecord_search *s, uint64_t *found, struct reel_error *err) {
    AUTO_STRUCT(window_close) struct window peek = {0};
    *found = ROSRECORD_NOWHERE;
    if (!window_open(&peek, s->window->source, PEEK_BYTES, err)) {
        return false;
    }
    for (uint64_t at = s->from; at < s->to && s->to - at > ROSRECORD_MIN && *s->allowance > 0; at++) {
        const uint8_t *p = window_at(s->window, at, ROSRECORD_MIN, err);
        if (!p || !s->progress(s->context, at, err)) {
            return false;
        }
        uint64_t in_window = window_held(s->window, at) - ROSRECORD_MIN, before_end = s->to - at - ROSRECORD_MIN - 1;
        const uint8_t *last = p + (in_window < before_end ? in_window : before_end);
        for (; p < last && !lengths_fit(p); p++) {
            at++;
        }
        bool yes = false;
        if (lengths_fit(p) && !s->looks_like(s->context, &peek, at, &yes, err)) {
            return false;
        }
        if (yes) {
            *found = at;
            return true;
        }
    }
    return true;
}

void rosrecord_no_index(struct reel_scan *scan, bool has_header, uint64_t index_pos, bool has_messages,
                        const char *index) {
    uint64_t size = scan->parts[0]->size;
    if (index_pos > size) {
        reel_scan_finding(scan, REEL_LOSS, 0, size, 0, "truncated at byte %llu: the %s should begin at %llu", (ull)size,
                          index, (ull)index_pos);
    } else if (index_pos != 0 && (index_pos < size || has_messages)) {
        reel_scan_finding(scan, REEL_WARNING, 0, index_pos, 0, "no %s at %llu, where the file header says it is", index,
                          (ull)index_pos);
    } else if (has_header && index_pos == 0) {
        reel_scan_finding(scan, REEL_NOTE, 0, 0, 0, "the recording was not closed: it has no %s", index);
    }
}

uint64_t ros_put_field(struct reel_sink *out, const char *name, struct reel_bytes value) {
    reel_sink_u32le(out, (uint32_t)(strlen(name) + 1 + value.size));
    reel_sink_put_bytes(out, bytes_text(name));
    reel_sink_u8(out, '=');
    reel_sink_put_bytes(out, value);
    return out->pos - value.size;
}
void ros_put_op(struct reel_sink *out, uint8_t op) {
    ros_put_field(out, "op", bytes_of(&op, 1));
}
void ros_put_u32(struct reel_sink *out, const char *name, uint32_t value) {
    uint8_t b[4];
    store_u32le(b, value);
    ros_put_field(out, name, bytes_of(b, sizeof b));
}
void ros_put_u64(struct reel_sink *out, const char *name, uint64_t value) {
    uint8_t b[8];
    store_u64le(b, value);
    ros_put_field(out, name, bytes_of(b, sizeof b));
}
