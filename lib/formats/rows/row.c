/* Parses one row (formats/rows/append.h). The members of both media are taken apart into spans, and the same code reads
 * them. */
#include "formats/rows/row_parse.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "reel/time.h"
#include "syntax/base64.h"
#include "syntax/json_scan.h"
#include "syntax/msgpack.h"
#include "syntax/utf8.h"

bool row_parser_open(struct row_parser *p, struct arena *arena, int64_t now_ns, struct reel_error *err) {
    const struct reel_channel json = {.name = "", .type = "", .encoding = "json"},
                              msgpack = {.name = "", .type = "", .encoding = "msgpack"};
    *p = (struct row_parser){.arena = arena, .now_ns = now_ns};
    p->json = reel_decoder_open(&json, err);
    p->msgpack = p->json ? reel_decoder_open(&msgpack, err) : NULL;
    return p->msgpack;
}

void row_parser_close(struct row_parser *p) {
    reel_decoder_free(p->json);
    reel_decoder_free(p->msgpack);
}

/* ---- scalars */

static bool on_null(struct reel_visitor *v) {
    ((struct row_scalar *)v)->kind = SCALAR_NULL;
    return true;
}
static bool rows_on_boolean(struct reel_visitor *v, bool value) {
    struct row_scalar *s = (struct row_scalar *)v;
    s->kind = SCALAR_BOOL;
    s->integer = value;
    return true;
}
static bool rows_on_integer(struct reel_visitor *v, int64_t value) {
    struct row_scalar *s = (struct row_scalar *)v;
    s->kind = SCALAR_INTEGER;
    s->integer = value;
    return true;
}
static bool rows_on_natural(struct reel_visitor *v, uint64_t value) {
    return value <= INT64_MAX && rows_on_integer(v, (int64_t)value);
}
static bool rows_on_real(struct reel_visitor *v, double value) {
    struct row_scalar *s = (struct row_scalar *)v;
    s->kind = SCALAR_REAL;
    s->real = value;
    return true;
}
static bool rows_on_real32(struct reel_visitor *v, float value) {
    return rows_on_real(v, (double)value);
}
static bool rows_keep_bytes(struct row_scalar *s, int kind, struct reel_bytes value) {
    uint8_t *copy = arena_alloc(s->arena, value.size + 1);
    s->no_memory = !copy;
    if (copy && value.size > 0) {
        memcpy(copy, value.data, value.size);
    }
    s->bytes = bytes_of(copy, value.size);
    s->kind = kind;
    return copy;
}
static bool rows_on_text(struct reel_visitor *v, struct reel_bytes value) {
    return rows_keep_bytes((struct row_scalar *)v, SCALAR_TEXT, value);
}
static bool rows_on_binary(struct reel_visitor *v, struct reel_bytes value) {
    return rows_keep_bytes((struct row_scalar *)v, SCALAR_BYTES, value);
}
static bool rows_on_begin(struct reel_visitor *v) {
    ((struct row_scalar *)v)->kind = SCALAR_OTHER;
    return false;
}
static const struct reel_visitor_ops scalar_ops = {
    .begin_map = rows_on_begin,
    .begin_list = rows_on_begin,
    .null = on_null,
    .boolean = rows_on_boolean,
    .integer = rows_on_integer,
    .natural = rows_on_natural,
    .real = rows_on_real,
    .real32 = rows_on_real32,
    .text = rows_on_text,
    .binary = rows_on_binary,
};

bool row_read_scalar(const struct row_parser *p, const struct row_value *value, const char *member,
                     struct row_scalar *out, struct reel_error *err) {
    struct reel_error why = {0};
    *out = (struct row_scalar){.visitor.ops = &scalar_ops, .arena = p->arena};
    if (!reel_decode(value->medium == VALUE_JSON ? p->json : p->msgpack, value->text, &out->visitor, &why) &&
        why.code != REEL_OK) {
        return reel_error_ignore(err, &why) && reel_fail(err, REEL_ARGUMENT, "%s: %s", member, why.text);
    }
    return !out->no_memory || reel_fail_memory(err);
}

/* A text without control characters; in the arena. */
bool row_read_text(const struct row_parser *p, const struct row_value *value, const char *member, const char **out,
                   struct reel_error *err) {
    struct row_scalar s;
    if (!row_read_scalar(p, value, member, &s, err)) {
        return false;
    }
    *out = (const char *)s.bytes.data;
    if (s.kind != SCALAR_TEXT || memchr(s.bytes.data, 0, s.bytes.size) || !utf8_valid(s.bytes)) {
        return reel_fail(err, REEL_ARGUMENT, "%s must be a text", member);
    }
    return s.bytes.size <= REEL_TEXT_MAX || reel_fail(err, REEL_LIMIT, "%s: at most %d bytes", member, REEL_TEXT_MAX);
}

/* A number with a point counts seconds, exactly; it may be negative. */
static bool parse_time(const char *text, struct reel_time *t, struct reel_error *err) {
    const char *number = text + (*text == '-');
    if (!strchr(number, '.') || number[strspn(number, "0123456789.")] != '\0') {
        return reel_time_parse(text, 1, t, err);
    }
    bool good = reel_time_parse(number, 1000000000, t, err);
    t->ns = *text == '-' ? -t->ns : t->ns;
    return good;
}

static bool rows_read_time(const struct row_parser *p, const struct row_value *value, const char *member, int64_t *out,
                           struct reel_error *err) {
    struct row_scalar s;
    struct reel_time t = {0};
    char digits[32];
    struct reel_error why = {0};
    if (!row_read_scalar(p, value, member, &s, err)) {
        return false;
    }
    bool exact = value->medium == VALUE_JSON && !memchr(value->text.data, 'e', value->text.size) &&
                 !memchr(value->text.data, 'E', value->text.size);
    if (s.kind == SCALAR_REAL && exact && value->text.size < sizeof digits) {
        snprintf(digits, sizeof digits, "%.*s", (int)value->text.size, (const char *)value->text.data);
    } else if (s.kind == SCALAR_REAL && fabs(s.real) < 9e9) {
        *out = (int64_t)llround(s.real * 1e9);
        return true;
    } else {
        snprintf(digits, sizeof digits, "%lld", (long long)s.integer);
    }
    bool is_time = s.kind == SCALAR_TEXT || s.kind == SCALAR_INTEGER || (s.kind == SCALAR_REAL && exact);
    if (!is_time || !parse_time(s.kind == SCALAR_TEXT ? (const char *)s.bytes.data : digits, &t, &why)) {
        return reel_fail(err, REEL_ARGUMENT, "%s: %s", member,
                         is_time ? why.text : "a time is a text (RFC 3339) or a number");
    }
    *out = t.kind == REEL_TIME_FROM_NOW ? p->now_ns + t.ns : t.ns;
    return t.kind == REEL_TIME_ABSOLUTE || t.kind == REEL_TIME_FROM_NOW ||
           reel_fail(err, REEL_ARGUMENT, "%s: a time since 1970 is needed", member);
}

/* ---- members */

static struct row_value *member_named(struct row_members *m, struct reel_bytes key) {
    const struct {
        const char *name;
        struct row_value *value;
    } known[] = {{"topic", &m->topic},
                 {"log_time", &m->log_time},
                 {"publish_time", &m->publish_time},
                 {"sequence", &m->sequence},
                 {"frame_id", &m->frame_id},
                 {"callerid", &m->callerid},
                 {"data", &m->data},
                 {"$channel", &m->channel},
                 {"type", &m->type},
                 {"encoding", &m->encoding},
                 {"schema", &m->schema},
                 {"latched", &m->latched},
                 {"schema_name", &m->schema_name},
                 {"schema_encoding", &m->schema_encoding},
                 {"schema_hash", &m->schema_hash},
                 {"schemas", &m->schemas},
                 {"topics", &m->topics},
                 {"metadata", &m->metadata}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (bytes_is(key, known[i].name)) {
            return known[i].value;
        }
    }
    return NULL;
}

static void take_member(struct row_members *m, bool first, struct reel_bytes key, struct row_value value) {
    struct row_value *to = member_named(m, key);
    if (to) {
        *to = value;
    } else {
        m->ignored |= first && key.size > 0 && key.data[0] == '$';
    }
}

static bool split_json(struct reel_bytes text, struct row_members *out, struct reel_error *err) {
    struct json_items s = json_items_of(text, '{', '}');
    struct reel_bytes key = {0}, value = {0};
    *out = (struct row_members){0};
    for (bool first = true; json_next_member(&s, &key, &value); first = false) {
        take_member(out, first, key, (struct row_value){value, VALUE_JSON});
    }
    return json_items_end(&s) || reel_fail(err, REEL_ARGUMENT, "it is no JSON object");
}

static bool split_msgpack(struct reel_bytes map, struct row_members *out, struct reel_error *err) {
    struct msgpack_faults faults = {0};
    struct cursor c = cursor_of(map);
    struct msgpack_item item;
    struct reel_bytes key;
    *out = (struct row_members){0};
    if (msgpack_read(&c, &item) != MSGPACK_OK || item.kind != MSGPACK_MAP) {
        return reel_fail(err, REEL_ARGUMENT, "it is no MessagePack map");
    }
    for (uint64_t i = 0; i < item.count; i++) {
        const uint8_t *from;
        if (msgpack_key(&c, &key, REEL_DEPTH_MAX, &faults) != MSGPACK_OK || !(from = c.at) ||
            msgpack_skip(&c, REEL_DEPTH_MAX, &faults) != MSGPACK_OK) {
            return reel_fail(err, REEL_ARGUMENT, "its MessagePack is damaged");
        }
        take_member(out, i == 0, key, (struct row_value){bytes_of(from, (size_t)(c.at - from)), VALUE_MSGPACK});
    }
    return true;
}

bool row_split(const struct row_value *value, struct row_members *out, struct reel_error *err) {
    return value->medium == VALUE_JSON ? split_json(value->text, out, err) : split_msgpack(value->text, out, err);
}

/* ---- data */

/* The digits of {"$base64": "…"}. */
bool row_is_base64(const struct row_value *value, struct row_value *digits) {
    struct json_items s = json_items_of(value->text, '{', '}');
    struct reel_bytes key, text, more;
    if (value->medium != VALUE_JSON || !json_next_member(&s, &key, &text) || !bytes_is(key, "$base64") ||
        json_next_member(&s, &key, &more) || s.c.failed) {
        return false;
    }
    *digits = (struct row_value){text, VALUE_JSON};
    return true;
}

bool row_read_base64(const struct row_parser *p, const struct row_value *digits, struct reel_bytes *out,
                     struct reel_error *err) {
    struct row_scalar s;
    if (!row_read_scalar(p, digits, "$base64", &s, err)) {
        return false;
    }
    uint8_t *bytes = arena_alloc(p->arena, BASE64_ROOM(s.bytes.size));
    size_t size = 0;
    if (!bytes) {
        return arena_fail(p->arena, err);
    }
    if (s.kind != SCALAR_TEXT || !base64_read(s.bytes, bytes, &size)) {
        return reel_fail(err, REEL_ARGUMENT, "$base64 must be base64 with padding");
    }
    *out = bytes_of(bytes, size);
    return true;
}

static const struct reel_visitor_ops nothing_ops = {0};

/* A value that is no bytes stays as it is written; it is read once, so that nothing is recorded that cannot be read. */
static bool read_data(const struct row_parser *p, const struct row_value *value, struct row *out,
                      struct reel_error *err) {
    struct row_value digits;
    struct reel_error why = {0};
    out->span = value->text;
    if (row_is_base64(value, &digits)) {
        out->is_bytes = true;
        /* without quotes */
        out->span = bytes_of(digits.text.data + 1, digits.text.size > 1 ? digits.text.size - 2 : 0);
        return row_read_base64(p, &digits, &out->payload, err);
    }
    struct cursor c = cursor_of(value->text);
    struct msgpack_item item = {0};
    if (value->medium == VALUE_MSGPACK && msgpack_read(&c, &item) == MSGPACK_OK && item.kind == MSGPACK_BIN) {
        out->is_bytes = true;
        out->payload = out->span = item.bytes;
        return true;
    }
    out->payload = value->text;
    return reel_decode(value->medium == VALUE_JSON ? p->json : p->msgpack, value->text,
                       &(struct reel_visitor){&nothing_ops}, &why) ||
           (reel_error_ignore(err, &why) && reel_fail(err, REEL_ARGUMENT, "data: %s", why.text));
}

/* ---- rows */

bool row_text_or(const struct row_parser *p, const struct row_value *value, const char *member, const char *otherwise,
                 const char **out, struct reel_error *err) {
    *out = otherwise;
    return value->medium == VALUE_NONE || row_read_text(p, value, member, out, err);
}

static bool read_sequence(const struct row_parser *p, const struct row_value *value, uint32_t *out,
                          struct reel_error *err) {
    struct row_scalar s = {0};
    if (value->medium != VALUE_NONE && !row_read_scalar(p, value, "sequence", &s, err)) {
        return false;
    }
    *out = s.kind == SCALAR_INTEGER ? (uint32_t)s.integer : 0;
    return true;
}

static bool read_row(const struct row_parser *p, const struct row_members *m, struct row *out, struct reel_error *err) {
    *out = (struct row){.log_ns = p->now_ns};
    if (m->channel.medium != VALUE_NONE) {
        return row_read_channel(p, &m->channel, out, err);
    }
    if (m->ignored) {
        return true;
    }
    out->kind = ROW_MESSAGE;
    out->has_publish_time = m->publish_time.medium != VALUE_NONE;
    out->dated = m->log_time.medium != VALUE_NONE && memchr(m->log_time.text.data, ':', m->log_time.text.size);
    if (m->topic.medium == VALUE_NONE || m->data.medium == VALUE_NONE) {
        return reel_fail(err, REEL_ARGUMENT, "%s is missing", m->topic.medium == VALUE_NONE ? "topic" : "data");
    }
    return row_read_text(p, &m->topic, "topic", &out->topic, err) &&
           (m->log_time.medium == VALUE_NONE || rows_read_time(p, &m->log_time, "log_time", &out->log_ns, err)) &&
           (m->publish_time.medium == VALUE_NONE ||
            rows_read_time(p, &m->publish_time, "publish_time", &out->publish_ns, err)) &&
           read_sequence(p, &m->sequence, &out->sequence, err) &&
           row_text_or(p, &m->frame_id, "frame_id", NULL, &out->frame_id, err) &&
           row_text_or(p, &m->callerid, "callerid", NULL, &out->callerid, err) && read_data(p, &m->data, out, err) &&
           (!out->is_bytes || row_text_or(p, &m->encoding, "encoding", "", &out->encoding, err));
}

bool row_parse_json(const struct row_parser *p, struct reel_bytes text, struct row *out, struct reel_error *err) {
    struct row_members m;
    return split_json(text, &m, err) && read_row(p, &m, out, err);
}

bool row_parse_msgpack(const struct row_parser *p, struct reel_bytes map, struct row *out, struct reel_error *err) {
    struct row_members m;
    return split_msgpack(map, &m, err) && read_row(p, &m, out, err);
}
