/* The text of protobuf definitions, as RSB writes it into a log, compiled into a FileDescriptorSet. Rule: two passes over the same grammar, the first learns the names
 * of messages and enums, the second emits with every type resolved; what is not understood is an error, never a guess.
 *
 * Emitted: FileDescriptorSet {1 file*} · file {2 package, 4 message*, 5 enum*} · message {1 name, 2 field*, 3 message*, 4 enum*} · field {1 name, 3 number, 4 label,
 * 5 type, 6 type name, 8 options {2 packed}} · enum {1 name, 2 value* {1 name, 2 number}}. */
#include <ctype.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/cursor.h"
#include "core/limits.h"
#include "decode/rsb.h"

enum { TYPE_MESSAGE = 11, TYPE_ENUM = 14, LABEL_OPTIONAL = 1, LABEL_REQUIRED = 2, LABEL_REPEATED = 3 };

struct name {
    const char *full; /* "package.Outer.Inner" */
    const uint8_t *at; /* where it is defined */
    uint32_t type;
};

struct parse {
    struct cursor c;
    struct bytes text, token; /* the token is empty at the end */
    const uint8_t *token_at;
    bool emit; /* the second pass */
    struct arena arena;
    struct name *names;
    size_t n_names, cap_names;
    char scope[RSB_PROTO_NAME_MAX]; /* "package.Outer" */
    size_t scope_size;
    unsigned depth;
    struct grow *out;
    struct reel_error *err;
};

/* ---- words */

static bool wrong(struct parse *p, const char *what) {
    return reel_fail(p->err, REEL_DAMAGED, "proto text, byte %zu of %zu: %s", (size_t)(p->token_at - p->text.data), p->text.size, what);
}

static bool is_word(uint8_t c) {
    return isalnum(c) || c == '_' || c == '.';
}

static uint8_t ahead(const struct parse *p, size_t by) {
    return cursor_left(&p->c) > by ? p->c.at[by] : 0;
}

static void skip_space(struct parse *p) {
    while (!cursor_done(&p->c)) {
        if (isspace(ahead(p, 0))) {
            cursor_u8(&p->c);
        } else if (ahead(p, 0) == '/' && ahead(p, 1) == '/') {
            const uint8_t *end = memchr(p->c.at, '\n', cursor_left(&p->c));
            cursor_take(&p->c, end ? (size_t)(end - p->c.at) : cursor_left(&p->c));
        } else if (ahead(p, 0) == '/' && ahead(p, 1) == '*') {
            const uint8_t *end = memmem(p->c.at + 2, cursor_left(&p->c) - 2, "*/", 2);
            cursor_take(&p->c, end ? (size_t)(end - p->c.at) + 2 : cursor_left(&p->c));
        } else {
            return;
        }
    }
}

/* A word or number, a text with its quotes, or one other character. */
static void next(struct parse *p) {
    skip_space(p);
    p->token_at = p->c.at;
    uint8_t first = ahead(p, 0);
    cursor_take(&p->c, !cursor_done(&p->c));
    if (is_word(first)) {
        while (is_word(ahead(p, 0))) {
            cursor_u8(&p->c);
        }
    } else if (first == '"' || first == '\'') {
        while (!cursor_done(&p->c) && ahead(p, 0) != first) {
            cursor_take(&p->c, ahead(p, 0) == '\\' && cursor_left(&p->c) > 1 ? 2 : 1);
        }
        cursor_take(&p->c, !cursor_done(&p->c));
    }
    p->token = bytes_of(p->token_at, (size_t)(p->c.at - p->token_at));
}

static bool at_end(const struct parse *p) {
    return p->token.size == 0;
}
static bool is(const struct parse *p, const char *text) {
    return bytes_is(p->token, text);
}
static bool expect(struct parse *p, const char *text) {
    if (!is(p, text)) {
        char what[32];
        snprintf(what, sizeof what, "\"%s\" is expected", text);
        return wrong(p, what);
    }
    next(p);
    return true;
}

static bool take_word(struct parse *p, struct bytes *word) {
    *word = p->token;
    if (at_end(p) || !is_word(p->token.data[0])) {
        return wrong(p, "a name is expected");
    }
    next(p);
    return true;
}

static bool take_number(struct parse *p, int64_t *number) {
    char digits[24] = "";
    bool minus = is(p, "-");
    if (minus) {
        next(p);
    }
    if (at_end(p) || p->token.size >= sizeof digits || !isdigit(p->token.data[0])) {
        return wrong(p, "a number is expected");
    }
    memcpy(digits, p->token.data, p->token.size);
    char *end;
    long long value = strtoll(digits, &end, 0);
    if (*end != '\0' || value > INT32_MAX) {
        return wrong(p, "not a number of 32 bits");
    }
    *number = minus ? -value : value;
    next(p);
    return true;
}

/* To the end of a statement, or of its block. */
static bool skip_statement(struct parse *p) {
    for (size_t open = 0; !at_end(p);) {
        bool last = open == 0 ? is(p, ";") : open == 1 && is(p, "}");
        open += is(p, "{");
        open -= open > 0 && is(p, "}");
        next(p);
        if (last) {
            return true;
        }
    }
    return wrong(p, "a statement has no end");
}

/* ---- names */

static bool enter(struct parse *p, struct bytes name, size_t *outer) {
    *outer = p->scope_size;
    if (p->scope_size + name.size + 2 > sizeof p->scope) {
        return reel_fail(p->err, REEL_LIMIT, "proto text: a name longer than %d bytes", RSB_PROTO_NAME_MAX);
    }
    p->scope_size += (size_t)snprintf(p->scope + p->scope_size, sizeof p->scope - p->scope_size, "%s%.*s", p->scope_size > 0 ? "." : "", (int)name.size,
                                      (const char *)name.data);
    return true;
}

static void leave(struct parse *p, size_t outer) {
    p->scope_size = outer;
    p->scope[outer] = '\0';
}

static int by_name(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    int order = strcmp(x->full, y->full);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* The first definition of a name, or NULL. */
static const struct name *find(const struct parse *p, const char *full) {
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

/* What is being defined in p->scope, at `at`. */
static bool define(struct parse *p, const uint8_t *at, uint32_t type) {
    if (p->n_names == RSB_PROTO_NAMES_MAX) {
        return reel_fail(p->err, REEL_LIMIT, "proto text: more than %d messages and enums", RSB_PROTO_NAMES_MAX);
    }
    const char *full = arena_text(&p->arena, p->scope);
    if (!full || !GROW_ARRAY(p->names, p->n_names, p->cap_names)) {
        return reel_fail_memory(p->err);
    }
    p->names[p->n_names++] = (struct name){.full = full, .at = at, .type = type};
    return true;
}

/* A type as the text writes it: from the innermost scope outwards; ".a.B" is whole. */
static const struct name *resolve(const struct parse *p, struct bytes type) {
    char full[2 * RSB_PROTO_NAME_MAX];
    if (type.size >= RSB_PROTO_NAME_MAX) {
        return NULL;
    }
    bool whole = type.data[0] == '.';
    for (size_t scope = whole ? 0 : p->scope_size;; scope--) {
        if (scope == 0 || scope == p->scope_size || p->scope[scope] == '.') {
            snprintf(full, sizeof full, "%.*s%s%.*s", (int)scope, p->scope, scope > 0 ? "." : "", (int)(type.size - whole), (const char *)type.data + whole);
            const struct name *found = find(p, full);
            if (found || scope == 0) {
                return found;
            }
        }
    }
}

/* ---- emission: lengths are varints of five bytes, filled in when a part ends */

static void put_varint(struct grow *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        grow_put(to, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    }
    grow_put(to, &(uint8_t){(uint8_t)value}, 1);
}
static void put_number(struct parse *p, uint32_t field, int64_t value) {
    put_varint(p->out, field << 3);
    put_varint(p->out, (uint64_t)value);
}
static void put_text(struct parse *p, uint32_t field, struct bytes text) {
    put_varint(p->out, field << 3 | 2);
    put_varint(p->out, text.size);
    grow_put(p->out, text.data, text.size);
}
static size_t begin_part(struct parse *p, uint32_t field) {
    put_varint(p->out, field << 3 | 2);
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
    if (!is(p, "[")) {
        return true;
    }
    for (next(p); !at_end(p) && !is(p, "]");) {
        bool is_packed = is(p, "packed");
        next(p);
        if (is_packed && is(p, "=")) {
            next(p);
            *packed = is(p, "true");
        }
    }
    return expect(p, "]");
}

static uint32_t scalar_type(struct bytes type) {
    static const char *const scalars[] = {"",       "double", "float", "int64", "uint64", "int32",    "fixed64",  "fixed32", "bool",
                                          "string", "",       "",      "bytes", "uint32", "",         "sfixed32", "sfixed64", "sint32", "sint64"};
    for (uint32_t i = 1; i < sizeof scalars / sizeof *scalars; i++) {
        if (scalars[i][0] && bytes_is(type, scalars[i])) {
            return i;
        }
    }
    return 0;
}

static bool emit_field(struct parse *p, int label, struct bytes type, struct bytes name, int64_t number, bool packed) {
    uint32_t scalar = scalar_type(type);
    const struct name *named = scalar ? NULL : resolve(p, type);
    if (!scalar && !named) {
        char what[128];
        snprintf(what, sizeof what, "the type \"%.*s\" is not defined", (int)(type.size < 64 ? type.size : 64), (const char *)type.data);
        return wrong(p, what);
    }
    size_t field = begin_part(p, 2);
    put_text(p, 1, name);
    put_number(p, 3, number);
    put_number(p, 4, label);
    put_number(p, 5, scalar ? scalar : named->type);
    if (named) {
        char full[RSB_PROTO_NAME_MAX + 1];
        snprintf(full, sizeof full, ".%s", named->full);
        put_text(p, 6, bytes_text(full));
    }
    if (packed) {
        size_t options = begin_part(p, 8);
        put_number(p, 2, 1);
        end_part(p, options);
    }
    end_part(p, field);
    return true;
}

/* [label] type name = number [options]; */
static bool parse_field(struct parse *p, bool emit) {
    int label = is(p, "repeated") ? LABEL_REPEATED : is(p, "required") ? LABEL_REQUIRED : LABEL_OPTIONAL;
    if (label != LABEL_OPTIONAL || is(p, "optional")) {
        next(p);
    }
    if (is(p, "group")) {
        return wrong(p, "groups are not supported");
    }
    struct bytes type, name;
    int64_t number;
    bool packed = false;
    if (!take_word(p, &type) || !take_word(p, &name) || !expect(p, "=") || !take_number(p, &number) || !parse_options(p, &packed)) {
        return false;
    }
    if (number < 1 || number >= 1 << 29) {
        return wrong(p, "a field number that protobuf does not have");
    }
    return (!emit || emit_field(p, label, type, name, number, packed)) && expect(p, ";");
}

static bool parse_enum_values(struct parse *p, bool emit) {
    while (!at_end(p) && !is(p, "}")) {
        struct bytes name;
        int64_t number;
        bool unheard;
        if (is(p, ";")) {
            next(p);
        } else if (is(p, "option") || is(p, "reserved")) {
            if (!skip_statement(p)) {
                return false;
            }
        } else {
            if (!take_word(p, &name) || !expect(p, "=") || !take_number(p, &number) || !parse_options(p, &unheard) || !expect(p, ";")) {
                return false;
            }
            size_t value = emit ? begin_part(p, 2) : 0;
            if (emit) {
                put_text(p, 1, name);
                put_number(p, 2, number);
                end_part(p, value);
            }
        }
    }
    return true;
}

static bool parse_message_body(struct parse *p, bool emit);

/* message NAME {…} or enum NAME {…}, as field `field` of what is around it. `emit`: that is emitted. */
static bool parse_type(struct parse *p, uint32_t type, uint32_t field, bool emit) {
    const uint8_t *at = p->token_at;
    struct bytes name;
    size_t outer;
    next(p);
    if (!take_word(p, &name) || !enter(p, name, &outer)) {
        return false;
    }
    if (++p->depth > RSB_PROTO_DEPTH_MAX) {
        return reel_fail(p->err, REEL_LIMIT, "proto text: messages in messages, more than %d deep", RSB_PROTO_DEPTH_MAX);
    }
    if (!p->emit && !define(p, at, type)) {
        return false;
    }
    const struct name *first = p->emit ? find(p, p->scope) : NULL;
    emit = emit && first && first->at == at;
    size_t part = emit ? begin_part(p, field) : 0;
    if (emit) {
        put_text(p, 1, name);
    }
    if (!expect(p, "{") || !(type == TYPE_ENUM ? parse_enum_values(p, emit) : parse_message_body(p, emit)) || !expect(p, "}")) {
        return false;
    }
    if (emit) {
        end_part(p, part);
    }
    leave(p, outer);
    p->depth--;
    return true;
}

static bool parse_oneof(struct parse *p, bool emit) {
    struct bytes name;
    next(p);
    if (!take_word(p, &name) || !expect(p, "{")) {
        return false;
    }
    while (!at_end(p) && !is(p, "}")) {
        if (!(is(p, "option") ? skip_statement(p) : parse_field(p, emit))) {
            return false;
        }
    }
    return expect(p, "}");
}

static bool parse_member(struct parse *p, bool emit) {
    if (is(p, "message") || is(p, "enum")) {
        return is(p, "message") ? parse_type(p, TYPE_MESSAGE, 3, emit) : parse_type(p, TYPE_ENUM, 4, emit);
    }
    if (is(p, "oneof")) {
        return parse_oneof(p, emit);
    }
    bool passed_over = is(p, ";") || is(p, "option") || is(p, "extensions") || is(p, "reserved") || is(p, "extend");
    return passed_over ? skip_statement(p) : parse_field(p, emit);
}

static bool parse_message_body(struct parse *p, bool emit) {
    while (!at_end(p) && !is(p, "}")) {
        if (!parse_member(p, emit)) {
            return false;
        }
    }
    return true;
}

static bool is_passed_over(const struct parse *p) {
    return is(p, ";") || is(p, "import") || is(p, "option") || is(p, "syntax") || is(p, "service") || is(p, "extend");
}

static bool parse_statement(struct parse *p) {
    if (is(p, "message")) {
        return parse_type(p, TYPE_MESSAGE, 4, p->emit);
    }
    if (is(p, "enum")) {
        return parse_type(p, TYPE_ENUM, 5, p->emit);
    }
    return is_passed_over(p) ? skip_statement(p) : wrong(p, "no statement of a definition");
}

/* Up to the next package: one file of the set. */
static bool parse_file(struct parse *p) {
    size_t file = p->emit ? begin_part(p, 1) : 0, outer;
    leave(p, 0);
    while (is_passed_over(p)) {
        if (!skip_statement(p)) {
            return false;
        }
    }
    if (is(p, "package")) {
        struct bytes package;
        next(p);
        if (!take_word(p, &package) || !enter(p, package, &outer) || !expect(p, ";")) {
            return false;
        }
        if (p->emit) {
            put_text(p, 2, package);
        }
    }
    while (!at_end(p) && !is(p, "package")) {
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
    p->c = cursor_of(p->text);
    for (next(p); !at_end(p);) {
        if (!parse_file(p)) {
            return false;
        }
    }
    return true;
}

bool rsb_proto_compile(struct bytes text, struct grow *out, struct reel_error *err) {
    if (text.size > RSB_PROTO_TEXT_MAX) {
        return reel_fail(err, REEL_LIMIT, "a proto text of %zu bytes; %d are compiled", text.size, RSB_PROTO_TEXT_MAX);
    }
    struct parse p = {.text = text, .out = out, .err = err, .arena = {.max = REEL_SCHEMA_MAX}};
    bool good = parse_all(&p, false);
    if (good && p.n_names > 0) {
        qsort(p.names, p.n_names, sizeof *p.names, by_name);
        good = parse_all(&p, true) && (!out->failed || reel_fail_memory(err));
    }
    free(p.names);
    arena_free(&p.arena);
    return good;
}

/* A definition by that exact name is compiled already. */
static bool is_text(const struct reel_channel *channel, uint32_t i) {
    const struct reel_schema *s = &channel->schemas[i];
    bool envelope = i == 0 && (strcmp(s->name, "rsb.protocol.Notification") == 0 || strcmp(s->name, "rsb.serialization.Event") == 0);
    return !envelope && strncmp(s->encoding, "proto", 5) == 0 && strcmp(s->encoding, "protobuf") != 0;
}

bool rsb_proto_compile_channel(const struct reel_channel *channel, struct grow *out, struct reel_error *err) {
    struct grow text = {0};
    for (uint32_t i = 0; i < channel->n_schemas; i++) {
        if (is_text(channel, i)) {
            grow_put(&text, channel->schemas[i].data.data, channel->schemas[i].data.size);
            grow_put(&text, "\n", 1);
        }
    }
    bool good = text.failed     ? reel_fail_memory(err)
                : text.size > 0 ? rsb_proto_compile(bytes_of(text.data, text.size), out, err)
                                : reel_fail(err, REEL_UNSUPPORTED, "protobuf without a definition is not decoded");
    free(text.data);
    return good;
}
