/* The well-known types of google.protobuf, shown as ProtoJSON does: a wrapper is its value, Struct, ListValue and Value
 * are what they stand for, a FieldMask is one text, an Any has the fields of its type if the definition knows it.
 * Timestamp and Duration are times (visitor.h). A type of such a name with other fields is a message like any. */
#include "base/ascii.h"
#include "base/grow.h"
#include "formats/protobuf/walk.h"

/* ---- which messages they are */

static bool is_one(const struct pb_message *m, bool repeated) {
    return m->n == 1 && m->fields->number == 1 && m->fields->repeated == repeated;
}
static bool protobuf_has_message(const struct pb_field *s) {
    return s->type == PB_MESSAGE || s->type == PB_GROUP;
}
static bool is_wrapper(const struct pb_message *m) {
    return is_one(m, false) && !protobuf_has_message(m->fields) && m->fields->type != PB_ENUM;
}
/* Its one field is a map; forms of entries may not be known yet. */
static bool is_of_messages(const struct pb_message *m) {
    return is_one(m, true) && m->fields->message;
}
static bool is_value(const struct pb_message *m) {
    bool good = m->n > 0;
    for (uint32_t i = 0; good && i < m->n; i++) {
        good = m->fields[i].oneof == m->fields->oneof && m->fields->oneof > 0;
    }
    return good;
}
static bool is_mask(const struct pb_message *m) {
    return is_one(m, true) && m->fields->type == PB_STRING;
}
static bool is_any(const struct pb_message *m) {
    return m->n == 2 && m->fields[0].number == 1 && m->fields[0].type == PB_STRING && m->fields[1].number == 2 &&
           m->fields[1].type == PB_BYTES;
}
static bool is_time(const struct pb_message *m) {
    (void)m;
    return true;
}

enum pb_form pb_form_known(const struct pb_message *m) {
    static const struct {
        const char *name;
        enum pb_form form;
        bool (*is)(const struct pb_message *m);
    } known[] = {
        {"Timestamp", PB_TIME, is_time},         {"Duration", PB_DURATION, is_time},
        {"DoubleValue", PB_WRAPPER, is_wrapper}, {"FloatValue", PB_WRAPPER, is_wrapper},
        {"Int64Value", PB_WRAPPER, is_wrapper},  {"UInt64Value", PB_WRAPPER, is_wrapper},
        {"Int32Value", PB_WRAPPER, is_wrapper},  {"UInt32Value", PB_WRAPPER, is_wrapper},
        {"BoolValue", PB_WRAPPER, is_wrapper},   {"StringValue", PB_WRAPPER, is_wrapper},
        {"BytesValue", PB_WRAPPER, is_wrapper},  {"Struct", PB_OBJECT, is_of_messages},
        {"ListValue", PB_LIST, is_of_messages},  {"Value", PB_VALUE, is_value},
        {"FieldMask", PB_MASK, is_mask},         {"Any", PB_ANY, is_any},
    };
    static const char package[] = "google.protobuf.";
    bool named = strncmp(m->name, package, sizeof package - 1) == 0;
    for (size_t i = 0; named && i < sizeof known / sizeof *known; i++) {
        if (strcmp(m->name + sizeof package - 1, known[i].name) == 0 && known[i].is(m)) {
            return known[i].form;
        }
    }
    return PB_PLAIN;
}

/* ---- values */

/* Field 1 seconds, 2 nanoseconds. */
bool pb_emit_time(struct pb_walk *w, struct reel_bytes bytes, bool is_duration) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    int64_t seconds = 0;
    int32_t ns = 0;
    while (pb_next(&at, &f)) {
        seconds = proto_is(&f, 1, PROTO_VARINT) ? (int64_t)f.value : seconds;
        ns = proto_is(&f, 2, PROTO_VARINT) ? (int32_t)(uint32_t)f.value : ns;
    }
    if (at.failed) {
        return pb_fail_at(w, bytes.data, "no time", bytes_of("", 0));
    }
    const struct reel_stamp value = {
        .seconds = seconds, .nanoseconds = ns, .nanoseconds_name = "nsec", .is_duration = is_duration, .is_text = true};
    return visit_stamp(w->v, &value);
}

/* "foo_bar" is "fooBar". */
static void put_camel(struct grow *out, struct reel_bytes path) {
    bool upper = false;
    for (size_t i = 0; i < path.size; i++) {
        uint8_t c = path.data[i];
        bool turns = c == '_' && i + 1 < path.size && path.data[i + 1] >= 'a' && path.data[i + 1] <= 'z';
        if (!turns) {
            grow_u8(out, upper ? (uint8_t)(c - 'a' + 'A') : c);
        }
        upper = turns;
    }
}

bool pb_emit_mask(struct pb_walk *w, struct reel_bytes bytes) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    struct grow text = {0};
    for (bool first = true; pb_next(&at, &f);) {
        if (proto_is(&f, 1, PROTO_BYTES)) {
            grow_text(&text, first ? "" : ",");
            put_camel(&text, f.bytes);
            first = false;
        }
    }
    bool good = at.failed     ? pb_fail_at(w, bytes.data, "no FieldMask", bytes_of("", 0))
                : text.failed ? reel_fail_memory(w->err)
                              : visit_text(w->v, bytes_of(text.data ? text.data : (const uint8_t *)"", text.size));
    grow_done(&text);
    return good;
}

/* The message that a URL like "type.googleapis.com/package.Name" ends with. */
static const struct pb_message *message_of_url(const struct pb_walk *w, struct reel_bytes url) {
    const uint8_t *slash = url.size > 0 ? memrchr(url.data, '/', url.size) : NULL;
    size_t begin = slash ? (size_t)(slash - url.data) + 1 : 0;
    return slash ? pb_message_find(w->schema, bytes_of(url.data + begin, url.size - begin)) : NULL;
}

bool pb_emit_any(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    struct reel_bytes url = bytes_of("", 0), value = url;
    while (pb_next(&at, &f)) {
        url = proto_is(&f, 1, PROTO_BYTES) ? f.bytes : url;
        value = proto_is(&f, 2, PROTO_BYTES) ? f.bytes : value;
    }
    const struct pb_message *inner = at.failed ? NULL : message_of_url(w, url);
    if (!inner) {
        return visit_begin_map(w->v) && pb_emit_members(w, m, bytes, depth) && visit_end_map(w->v);
    }
    bool plain = inner->form == PB_PLAIN || inner->form == PB_ENTRY;
    return visit_begin_map(w->v) && visit_key_text(w->v, "@type") && visit_text(w->v, url) &&
           (plain ? pb_emit_members(w, inner, value, depth)
                  : visit_key_text(w->v, "value") && pb_emit_message(w, inner, value, depth - 1)) &&
           visit_end_map(w->v);
}
