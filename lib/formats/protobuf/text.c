/* The text of protobuf definitions, as RSB and others write it into a log, compiled into a FileDescriptorSet. Rule: two
 * passes over the same grammar, the first learns the names of messages and enums, the second emits with every type
 * resolved; what is not understood is an error, never a guess.
 *
 * Emitted: FileDescriptorSet {1 file*} · file {2 package, 4 message*, 5 enum*} · message {1 name, 2 field*, 3 message*,
 * 4 enum*} · field {1 name, 3 number, 4 label, 5 type, 6 type name, 8 options {2 packed}} · enum {1 name, 2 value* {1
 * name, 2 number}}. */
#include <stdio.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "formats/protobuf/text.h"
#include "formats/protobuf/words.h"

enum { TYPE_MESSAGE = 11, TYPE_ENUM = 14, LABEL_OPTIONAL = 1, LABEL_REQUIRED = 2, LABEL_REPEATED = 3 };

struct name {
    const char *full;  /* "package.Outer.Inner" */
    const uint8_t *at; /* position of its definition */
    uint32_t type;
};

struct parse {
    struct words *w;
    bool emit; /* the second pass */
    struct arena arena;
    struct name *names;
    size_t n_names, cap_names;
    char scope[PROTO_TEXT_NAME_MAX]; /* "package.Outer" */
    size_t scope_size;
    unsigned depth;
    uint32_t oneofs; /* of the current message, up to here */
    bool in_oneof;   /* in the last of them */
    struct grow *out;
    struct reel_error *err;
};

/* ---- names */

static bool protobuf_text_enter(struct parse *p, struct reel_bytes name, size_t *outer) {
    *outer = p->scope_size;
    if (p->scope_size + name.size + 2 > sizeof p->scope) {
        return reel_fail(p->err, REEL_LIMIT, "proto text: a name longer than %d bytes", PROTO_TEXT_NAME_MAX);
    }
    p->scope_size += (size_t)snprintf(p->scope + p->scope_size, sizeof p->scope - p->scope_size, "%s%.*s",
                                      p->scope_size > 0 ? "." : "", (int)name.size, (const char *)name.data);
    return true;
}

static void protobuf_leave(struct parse *p, size_t outer) {
    p->scope_size = outer;
    p->scope[outer] = '\0';
}

static int protobuf_text_by_name(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    int order = strcmp(x->full, y->full);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* The first definition of a name, or NULL. */
static const struct name *protobuf_find(const struct parse *p, const char *full) {
    size_t low = 0, high = p->n_names;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(p->names[middle].full, full) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < p->n_names && strcmp(p->names[low].full, full) == 0 ? &p->names[low] : NULL;
}

/* The definition in p->scope that begins at `at`. */
static bool define(struct parse *p, const uint8_t *at, uint32_t type) {
    if (p->n_names == PROTO_TEXT_NAMES_MAX) {
        return reel_fail(p->err, REEL_LIMIT, "proto text: more than %d messages and enums", PROTO_TEXT_NAMES_MAX);
    }
    const char *full = arena_text(&p->arena, p->scope);
    if (!full) {
        return arena_fail(&p->arena, p->err);
    }
    if (!GROW_ARRAY(p->names, p->n_names, p->cap_names)) {
        return reel_fail_memory(p->err);
    }
    p->names[p->n_names++] = (struct name){.full = full, .at = at, .type = type};
    return true;
}

/* Resolves a type as written: from the innermost scope outwards; ".a.B" is absolute. */
static const struct name *protobuf_resolve(const struct parse *p, struct reel_bytes type) {
    char full[2 * PROTO_TEXT_NAME_MAX];
    if (type.size >= PROTO_TEXT_NAME_MAX) {
        return NULL;
    }
    bool whole = type.data[0] == '.';
    for (size_t scope = whole ? 0 : p->scope_size;; scope--) {
        if (scope == 0 || scope == p->scope_size || p->scope[scope] == '.') {
            snprintf(full, sizeof full, "%.*s%s%.*s", (int)scope, p->scope, scope > 0 ? "." : "",
                     (int)(type.size - whole), (const char *)type.data + whole);
            const struct name *found = protobuf_find(p, full);
            if (found || scope == 0) {
                return found;
            }
        }
    }
}

/* ---- emission: lengths are varints of five bytes, filled in at the end of each message */

static void protobuf_put_varint(struct grow *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        grow_put(to, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    }
    grow_put(to, &(uint8_t){(uint8_t)value}, 1);
}
static void protobuf_text_put_number(struct parse *p, uint32_t field, int64_t value) {
    protobuf_put_varint(p->out, field << 3);
    protobuf_put_varint(p->out, (uint64_t)value);
}
static void protobuf_put_text(struct parse *p, uint32_t field, struct reel_bytes text) {
    protobuf_put_varint(p->out, field << 3 | 2);
    protobuf_put_varint(p->out, text.size);
    grow_put(p->out, text.data, text.size);
}
static size_t begin_part(struct parse *p, uint32_t field) {
    protobuf_put_varint(p->out, field << 3 | 2);
    grow_take(p->out, 5);
    return p->out->size;
}
static void end_part(struct parse *p, size_t begin) {
    if (p->out->failed) {
        return;
    }
    uint64_t size = p->out->size - begin;
    for (unsigned i = 0; i < 5; i++) {
        p->out->data[begin - 5 + i] = (uint8_t)((size >> 7 * i & 0x7f) | (i < 4 ? 0x80 : 0));
    }
}

/* ---- grammar */

/* "[packed = true, deprecated = false]", or nothing. */
static bool parse_options(struct parse *p, bool *packed) {
    if (!words_is(p->w, "[")) {
        return true;
    }
    for (words_next(p->w); !words_end(p->w) && !words_is(p->w, "]");) {
        bool is_packed = words_is(p->w, "packed");
        words_next(p->w);
        if (is_packed && words_is(p->w, "=")) {
            words_next(p->w);
            *packed = words_is(p->w, "true");
        }
    }
    return words_expect(p->w, "]");
}

static uint32_t scalar_type(struct reel_bytes type) {
    static const char *const scalars[] = {"",        "double",   "float",    "int64",  "uint64", "int32", "fixed64",
                                          "fixed32", "bool",     "string",   "",       "",       "bytes", "uint32",
                                          "",        "sfixed32", "sfixed64", "sint32", "sint64"};
    for (uint32_t i = 1; i < sizeof scalars / sizeof *scalars; i++) {
        if (scalars[i][0] && bytes_is(type, scalars[i])) {
            return i;
        }
    }
    return 0;
}

static bool protobuf_text_emit_field(struct parse *p, int label, struct reel_bytes type, struct reel_bytes name,
                                     int64_t number, bool packed) {
    uint32_t scalar = scalar_type(type);
    const struct name *named = scalar ? NULL : protobuf_resolve(p, type);
    if (!scalar && !named) {
        char what[128];
        snprintf(what, sizeof what, "the type \"%.*s\" is not defined", (int)(type.size < 64 ? type.size : 64),
                 (const char *)type.data);
        return words_wrong(p->w, what);
    }
    size_t field = begin_part(p, 2);
    protobuf_put_text(p, 1, name);
    protobuf_text_put_number(p, 3, number);
    protobuf_text_put_number(p, 4, label);
    protobuf_text_put_number(p, 5, scalar ? scalar : named->type);
    if (named) {
        char full[PROTO_TEXT_NAME_MAX + 1];
        snprintf(full, sizeof full, ".%s", named->full);
        protobuf_put_text(p, 6, bytes_text(full));
    }
    if (p->in_oneof) {
        protobuf_text_put_number(p, 9, p->oneofs - 1);
    }
    if (packed) {
        size_t options = begin_part(p, 8);
        protobuf_text_put_number(p, 2, 1);
        end_part(p, options);
    }
    end_part(p, field);
    return true;
}

/* [label] type name = number [options]; */
static bool parse_field(struct parse *p, bool emit) {
    int label = words_is(p->w, "repeated")   ? LABEL_REPEATED
                : words_is(p->w, "required") ? LABEL_REQUIRED
                                             : LABEL_OPTIONAL;
    if (label != LABEL_OPTIONAL || words_is(p->w, "optional")) {
        words_next(p->w);
    }
    if (words_is(p->w, "group")) {
        return words_wrong(p->w, "groups are not supported");
    }
    struct reel_bytes type, name;
    int64_t number;
    bool packed = false;
    if (!words_take(p->w, &type) || !words_take(p->w, &name) || !words_expect(p->w, "=") ||
        !words_number(p->w, &number) || !parse_options(p, &packed)) {
        return false;
    }
    if (number < 1 || number >= 1 << 29) {
        return words_wrong(p->w, "a field number that protobuf does not have");
    }
    return (!emit || protobuf_text_emit_field(p, label, type, name, number, packed)) && words_expect(p->w, ";");
}

static bool parse_enum_values(struct parse *p, bool emit) {
    while (!words_end(p->w) && !words_is(p->w, "}")) {
        struct reel_bytes name;
        int64_t number;
        bool unheard;
        if (words_is(p->w, ";")) {
            words_next(p->w);
        } else if (words_is(p->w, "option") || words_is(p->w, "reserved")) {
            if (!words_skip_statement(p->w)) {
                return false;
            }
        } else {
            if (!words_take(p->w, &name) || !words_expect(p->w, "=") || !words_number(p->w, &number) ||
                !parse_options(p, &unheard) || !words_expect(p->w, ";")) {
                return false;
            }
            size_t value = emit ? begin_part(p, 2) : 0;
            if (emit) {
                protobuf_put_text(p, 1, name);
                protobuf_text_put_number(p, 2, number);
                end_part(p, value);
            }
        }
    }
    return true;
}

static bool parse_message_body(struct parse *p, bool emit);

/* message NAME {…} or enum NAME {…}, as field `field` of the enclosing message. `emit`: write it to the output. */
static bool parse_type(struct parse *p, uint32_t type, uint32_t field, bool emit) {
    const uint8_t *at = p->w->token_at;
    struct reel_bytes name;
    size_t outer;
    uint32_t outer_oneofs = p->oneofs;
    words_next(p->w);
    p->oneofs = 0;
    if (!words_take(p->w, &name) || !protobuf_text_enter(p, name, &outer)) {
        return false;
    }
    if (++p->depth > PROTO_TEXT_DEPTH_MAX) {
        return reel_fail(p->err, REEL_LIMIT, "proto text: messages in messages, more than %d deep",
                         PROTO_TEXT_DEPTH_MAX);
    }
    if (!p->emit && !define(p, at, type)) {
        return false;
    }
    const struct name *first = p->emit ? protobuf_find(p, p->scope) : NULL;
    emit = emit && first && first->at == at;
    size_t part = emit ? begin_part(p, field) : 0;
    if (emit) {
        protobuf_put_text(p, 1, name);
    }
    if (!words_expect(p->w, "{") || !(type == TYPE_ENUM ? parse_enum_values(p, emit) : parse_message_body(p, emit)) ||
        !words_expect(p->w, "}")) {
        return false;
    }
    if (emit) {
        end_part(p, part);
    }
    protobuf_leave(p, outer);
    p->oneofs = outer_oneofs;
    p->depth--;
    return true;
}

static bool parse_oneof(struct parse *p, bool emit) {
    struct reel_bytes name;
    words_next(p->w);
    if (!words_take(p->w, &name) || !words_expect(p->w, "{")) {
        return false;
    }
    if (emit) {
        size_t part = begin_part(p, 8);
        protobuf_put_text(p, 1, name);
        end_part(p, part);
    }
    p->oneofs++;
    p->in_oneof = true;
    while (!words_end(p->w) && !words_is(p->w, "}")) {
        if (!(words_is(p->w, "option") ? words_skip_statement(p->w) : parse_field(p, emit))) {
            return false;
        }
    }
    p->in_oneof = false;
    return words_expect(p->w, "}");
}

static bool parse_member(struct parse *p, bool emit) {
    if (words_is(p->w, "message") || words_is(p->w, "enum")) {
        return words_is(p->w, "message") ? parse_type(p, TYPE_MESSAGE, 3, emit) : parse_type(p, TYPE_ENUM, 4, emit);
    }
    if (words_is(p->w, "oneof")) {
        return parse_oneof(p, emit);
    }
    bool passed_over = words_is(p->w, ";") || words_is(p->w, "option") || words_is(p->w, "extensions") ||
                       words_is(p->w, "reserved") || words_is(p->w, "extend");
    return passed_over ? words_skip_statement(p->w) : parse_field(p, emit);
}

static bool parse_message_body(struct parse *p, bool emit) {
    while (!words_end(p->w) && !words_is(p->w, "}")) {
        if (!parse_member(p, emit)) {
            return false;
        }
    }
    return true;
}

static bool is_passed_over(const struct parse *p) {
    return words_is(p->w, ";") || words_is(p->w, "import") || words_is(p->w, "option") || words_is(p->w, "syntax") ||
           words_is(p->w, "service") || words_is(p->w, "extend");
}

static bool parse_statement(struct parse *p) {
    if (words_is(p->w, "message")) {
        return parse_type(p, TYPE_MESSAGE, 4, p->emit);
    }
    if (words_is(p->w, "enum")) {
        return parse_type(p, TYPE_ENUM, 5, p->emit);
    }
    return is_passed_over(p) ? words_skip_statement(p->w) : words_wrong(p->w, "no statement of a definition");
}

/* Up to the next package: one file of the set. */
static bool parse_file(struct parse *p) {
    size_t file = p->emit ? begin_part(p, 1) : 0, outer;
    protobuf_leave(p, 0);
    while (is_passed_over(p)) {
        if (!words_skip_statement(p->w)) {
            return false;
        }
    }
    if (words_is(p->w, "package")) {
        struct reel_bytes package;
        words_next(p->w);
        if (!words_take(p->w, &package) || !protobuf_text_enter(p, package, &outer) || !words_expect(p->w, ";")) {
            return false;
        }
        if (p->emit) {
            protobuf_put_text(p, 2, package);
        }
    }
    while (!words_end(p->w) && !words_is(p->w, "package")) {
        if (!parse_statement(p)) {
            return false;
        }
    }
    if (p->emit) {
        end_part(p, file);
    }
    return true;
}

static bool parse_all(struct parse *p, bool emit) {
    p->emit = emit;
    p->w->c = cursor_of(p->w->text);
    for (words_next(p->w); !words_end(p->w);) {
        if (!parse_file(p)) {
            return false;
        }
    }
    return true;
}

bool proto_text_compile(struct reel_bytes text, struct grow *out, struct reel_error *err) {
    if (text.size > PROTO_TEXT_MAX) {
        return reel_fail(err, REEL_LIMIT, "a proto text of %zu bytes; %d are compiled", text.size, PROTO_TEXT_MAX);
    }
    struct words words = {.text = text, .err = err};
    struct parse p = {.w = &words, .out = out, .err = err, .arena = {.max = REEL_SCHEMA_MAX}};
    bool good = parse_all(&p, false);
    if (good && p.n_names > 0) {
        qsort(p.names, p.n_names, sizeof *p.names, protobuf_text_by_name);
        good = parse_all(&p, true) && (!out->failed || reel_fail_memory(err));
    }
    free(p.names);
    arena_free(&p.arena);
    return good;
}

/* Schemas of encoding "protobuf" are already compiled. */
static bool is_text(const struct reel_schema *s) {
    return strncmp(s->encoding, "proto", 5) == 0 && strcmp(s->encoding, "protobuf") != 0;
}

bool proto_text_compile_channel(const struct reel_channel *channel, uint32_t first, struct grow *out,
                                struct reel_error *err) {
    struct grow text = {0};
    for (uint32_t i = first; i < channel->n_schemas; i++) {
        if (is_text(&channel->schemas[i])) {
            grow_put(&text, channel->schemas[i].data.data, channel->schemas[i].data.size);
            grow_put(&text, "\n", 1);
        }
    }
    bool good = text.failed     ? reel_fail_memory(err)
                : text.size > 0 ? proto_text_compile(bytes_of(text.data, text.size), out, err)
                                : reel_fail(err, REEL_UNSUPPORTED, "protobuf without a definition is not decoded");
    free(text.data);
    return good;
}
