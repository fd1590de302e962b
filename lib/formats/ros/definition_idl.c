/* Reads definitions in OMG IDL as far as ROS 2 writes it: modules, structs, typedefs, enums. Annotations and constants
 * are skipped; anything else is refused. */
#include "formats/ros/definition_idl.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/limits.h"

enum { MODULES_MAX = 16, UNIT_MAX = 64 };

struct idl {
    struct ros_definition *def;
    const uint8_t *begin, *at, *end;
    uint32_t line;
    struct reel_bytes token;   /* a word with its ::, a number, a text with its quotes, or one character; size 0 at the
                                  end */
    char scope[ROS_NAME_ROOM]; /* "geometry_msgs/msg", "" outside of modules */
    struct reel_bytes unit;    /* unit of the next member */
    bool optional;             /* the next member is optional */
};

/* ---- tokens */

static bool word_byte(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
static bool starts(const struct idl *p, const char *text) {
    return bytes_start(bytes_of(p->at, (size_t)(p->end - p->at)), bytes_text(text));
}
static void to(struct idl *p, const uint8_t *at) {
    for (; p->at < at; p->at++) {
        p->line += *p->at == '\n';
    }
}
static void past(struct idl *p, const char *text) {
    const uint8_t *found = memmem(p->at, (size_t)(p->end - p->at), text, strlen(text));
    to(p, found ? found + strlen(text) : p->end);
}

/* Skips blanks, comments, preprocessor lines, and the headings between joined files. */
static void ros_definition_idl_skip_blanks(struct idl *p) {
    for (;;) {
        bool line_start = p->at == p->begin || p->at[-1] == '\n';
        if (p->at < p->end && (*p->at == ' ' || (*p->at >= '\t' && *p->at <= '\r'))) {
            to(p, p->at + 1);
        } else if (starts(p, "//") || starts(p, "#") || (line_start && (starts(p, "===") || starts(p, "IDL:")))) {
            past(p, "\n");
        } else if (starts(p, "/*")) {
            past(p, "*/");
        } else {
            return;
        }
    }
}

static void ros_next(struct idl *p) {
    ros_definition_idl_skip_blanks(p);
    const uint8_t *begin = p->at;
    if (p->at < p->end && (*p->at == '"' || *p->at == '\'')) {
        uint8_t quote = *p->at++;
        for (; p->at < p->end && *p->at != quote; p->at++) {
            p->line += *p->at == '\n';
            p->at += *p->at == '\\' && p->at + 1 < p->end;
        }
        p->at += p->at < p->end;
    } else if (p->at < p->end && (word_byte(*p->at) || starts(p, "::"))) {
        while (p->at < p->end && (word_byte(*p->at) || starts(p, "::"))) {
            p->at += *p->at == ':' ? 2 : 1;
        }
    } else {
        p->at += p->at < p->end;
    }
    p->token = bytes_of(begin, (size_t)(p->at - begin));
}

static bool is(const struct idl *p, const char *text) {
    return bytes_is(p->token, text);
}
static bool ros_definition_idl_skip(struct idl *p, const char *text) {
    bool there = is(p, text);
    if (there) {
        ros_next(p);
    }
    return there;
}
static bool ros_refuse(const struct idl *p, enum reel_code code, const char *what, struct reel_error *err) {
    return reel_fail(err, code, "line %u: %s, at \"%.*s\"", p->line, what,
                     (int)(p->token.size < 64 ? p->token.size : 64), (const char *)p->token.data);
}
static bool need(struct idl *p, const char *text, struct reel_error *err) {
    char what[32];
    snprintf(what, sizeof what, "\"%s\" is missing", text);
    return ros_definition_idl_skip(p, text) || ros_refuse(p, REEL_DAMAGED, what, err);
}
static bool need_name(struct idl *p, struct reel_bytes *name, struct reel_error *err) {
    *name = p->token;
    if (name->size == 0 || !word_byte(name->data[0]) || memchr(name->data, ':', name->size)) {
        return ros_refuse(p, REEL_DAMAGED, "a name is missing", err);
    }
    ros_next(p);
    return true;
}

static bool ros_definition_idl_number(struct idl *p, uint32_t *out, struct reel_error *err) {
    uint64_t value = 0;
    size_t n = 0;
    for (; n < p->token.size && p->token.data[n] >= '0' && p->token.data[n] <= '9' && value <= UINT32_MAX; n++) {
        value = value * 10 + (p->token.data[n] - '0');
    }
    if (n == 0 || n < p->token.size || value > UINT32_MAX) {
        return ros_refuse(p, REEL_UNSUPPORTED, "a length that is not a number", err);
    }
    *out = (uint32_t)value;
    ros_next(p);
    return true;
}

/* ---- annotations */

/* Reads `@name (…)`: only units matter, and annotations that change the layout of the payload. */
static bool annotations(struct idl *p, struct reel_error *err) {
    while (ros_definition_idl_skip(p, "@")) {
        struct reel_bytes name;
        if (!need_name(p, &name, err)) {
            return false;
        }
        p->optional |= bytes_is(name, "optional");
        if (bytes_is(name, "mutable")) {
            return ros_refuse(p, REEL_UNSUPPORTED, "mutable types are not read", err);
        }
        uint32_t open = is(p, "(");
        while (open > 0) {
            ros_next(p);
            bool text = p->token.size >= 2 && p->token.data[0] == '"';
            if (text && bytes_is(name, "unit") && p->token.size <= UNIT_MAX) {
                p->unit = bytes_of(p->token.data + 1, p->token.size - 2);
            }
            open += is(p, "(");
            open -= is(p, ")");
            if (p->token.size == 0) {
                return ros_refuse(p, REEL_DAMAGED, "\")\" is missing", err);
            }
            if (open == 0) {
                ros_next(p);
            }
        }
    }
    return true;
}

/* ---- types */

struct spec {
    char word[ROS_NAME_ROOM];
    uint8_t many;
    uint32_t count;
};

/* Reads a plain type, which may have several words ("unsigned long"). Returns its ROS name; NULL: something else. */
static const char *plain_word(struct idl *p) {
    static const struct {
        const char *idl, *ros;
    } words[] = {{"boolean", "bool"},  {"octet", "uint8"},   {"char", "uint8"},     {"short", "int16"},
                 {"float", "float32"}, {"int8", "int8"},     {"uint8", "uint8"},    {"int16", "int16"},
                 {"uint16", "uint16"}, {"int32", "int32"},   {"uint32", "uint32"},  {"int64", "int64"},
                 {"uint64", "uint64"}, {"string", "string"}, {"wstring", "wstring"}};
    bool natural = ros_definition_idl_skip(p, "unsigned");
    if (ros_definition_idl_skip(p, "long")) {
        return ros_definition_idl_skip(p, "long") ? natural ? "uint64" : "int64"
               : is(p, "double")                  ? NULL
               : natural                          ? "uint32"
                                                  : "int32";
    }
    if (natural) {
        return ros_definition_idl_skip(p, "short") ? "uint16" : NULL;
    }
    if (ros_definition_idl_skip(p, "double")) {
        return "float64";
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (ros_definition_idl_skip(p, words[i].idl)) {
            return words[i].ros;
        }
    }
    return NULL;
}

static bool one_type(struct idl *p, struct spec *out, struct reel_error *err) {
    static const char *const unread[] = {"unsigned", "long",   "double", "wchar", "fixed",  "any",    "map",
                                         "sequence", "struct", "union",  "enum",  "bitset", "bitmask"};
    const char *plain = plain_word(p);
    if (plain) {
        strcpy(out->word, plain);
        uint32_t bound;
        bool text = strcmp(plain, "string") == 0 || strcmp(plain, "wstring") == 0;
        return !text || !ros_definition_idl_skip(p, "<") ||
               (ros_definition_idl_number(p, &bound, err) && need(p, ">", err));
    }
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        if (is(p, unread[i])) {
            return ros_refuse(p, REEL_UNSUPPORTED, "this type is not read", err);
        }
    }
    if (!ros_type_name(p->token, true, out->word)) {
        return ros_refuse(p, REEL_DAMAGED, "a type is missing", err);
    }
    ros_next(p);
    return true;
}

static bool type(struct idl *p, struct spec *out, struct reel_error *err) {
    *out = (struct spec){.many = ROS_ONE, .count = UINT32_MAX};
    if (!ros_definition_idl_skip(p, "sequence")) {
        return one_type(p, out, err);
    }
    out->many = ROS_LIST;
    return need(p, "<", err) && one_type(p, out, err) &&
           (!ros_definition_idl_skip(p, ",") || ros_definition_idl_number(p, &out->count, err)) && need(p, ">", err);
}

/* Reads `name` or `name[5]` into a step of the last type. */
static bool declarator(struct idl *p, const struct spec *spec, struct reel_bytes name, struct reel_error *err) {
    struct ros_definition_step *s = ros_definition_add_step(p->def, name, err);
    if (!s) {
        return false;
    }
    s->many = spec->many;
    s->count = spec->count;
    if (ros_definition_idl_skip(p, "[")) {
        bool list = s->many != ROS_ONE;
        s->many = ROS_ARRAY;
        if (list || !ros_definition_idl_number(p, &s->count, err) || !need(p, "]", err) || is(p, "[")) {
            return list || is(p, "[") ? ros_refuse(p, REEL_UNSUPPORTED, "lists of lists are not read", err) : false;
        }
    }
    if (!ros_definition_set_word(p->def, s, bytes_text(spec->word), err)) {
        return false;
    }
    /* the placeholder in a message without fields */
    s->hidden = s->kind == REEL_U8 && s->many == ROS_ONE && bytes_is(name, "structure_needs_at_least_one_member");
    return true;
}

/* ---- declarations */

static bool ros_definition_idl_add_type(struct idl *p, struct reel_bytes name, enum ros_form form,
                                        struct reel_error *err) {
    char path[2 * ROS_NAME_ROOM];
    int n = snprintf(path, sizeof path, "%s%s%.*s", p->scope, p->scope[0] ? "/" : "",
                     (int)(name.size < ROS_NAME_ROOM ? name.size : ROS_NAME_ROOM), (const char *)name.data);
    struct ros_definition_type *t = ros_definition_add_type(p->def, bytes_of(path, (size_t)n), err);
    if (t) {
        t->form = (uint8_t)form;
    }
    return t != NULL;
}

static bool member(struct idl *p, struct reel_error *err) {
    struct spec spec;
    p->unit = bytes_of("", 0);
    p->optional = false;
    if (!annotations(p, err) || !type(p, &spec, err)) {
        return false;
    }
    const char *unit = arena_utf8(&p->def->arena, p->unit);
    if (p->optional || !unit) {
        return p->optional ? ros_refuse(p, REEL_UNSUPPORTED, "optional fields are not read", err)
                           : reel_fail_memory(err);
    }
    do {
        struct reel_bytes name;
        if (!need_name(p, &name, err) || !declarator(p, &spec, name, err)) {
            return false;
        }
        struct ros_definition_step *s = &p->def->steps[p->def->n_steps - 1];
        s->unit = unit;
    } while (ros_definition_idl_skip(p, ","));
    return need(p, ";", err);
}

static bool structure(struct idl *p, struct reel_error *err) {
    struct reel_bytes name;
    if (!need_name(p, &name, err)) {
        return false;
    }
    if (is(p, ";")) {
        return true; /* a forward declaration */
    }
    if (is(p, ":")) {
        return ros_refuse(p, REEL_UNSUPPORTED, "types that inherit are not read", err);
    }
    if (!need(p, "{", err) || !ros_definition_idl_add_type(p, name, ROS_STRUCT, err)) {
        return false;
    }
    while (!is(p, "}")) {
        if (p->token.size == 0 || !member(p, err)) {
            return p->token.size == 0 ? ros_refuse(p, REEL_DAMAGED, "a struct does not end", err) : false;
        }
    }
    ros_next(p);
    return true;
}

static bool alias(struct idl *p, struct reel_error *err) {
    struct spec spec;
    struct reel_bytes name;
    if (!type(p, &spec, err)) {
        return false;
    }
    do {
        if (!need_name(p, &name, err) || !ros_definition_idl_add_type(p, name, ROS_ALIAS, err) ||
            !declarator(p, &spec, name, err)) {
            return false;
        }
    } while (ros_definition_idl_skip(p, ","));
    return true;
}

static bool enumeration(struct idl *p, struct reel_error *err) {
    struct reel_bytes name;
    if (!need_name(p, &name, err) || !need(p, "{", err) || !ros_definition_idl_add_type(p, name, ROS_ENUM, err)) {
        return false;
    }
    while (p->token.size > 0 && !is(p, "}")) {
        ros_next(p);
    }
    return need(p, "}", err);
}

static bool constant(struct idl *p) {
    while (p->token.size > 0 && !is(p, ";")) {
        ros_next(p);
    }
    return true;
}

static bool open_module(struct idl *p, struct reel_error *err) {
    struct reel_bytes name;
    if (!need_name(p, &name, err) || !need(p, "{", err)) {
        return false;
    }
    size_t size = strlen(p->scope);
    if (size + 1 + name.size >= sizeof p->scope) {
        return ros_refuse(p, REEL_LIMIT, "the names of modules are too long", err);
    }
    snprintf(p->scope + size, sizeof p->scope - size, "%s%.*s", size > 0 ? "/" : "", (int)name.size,
             (const char *)name.data);
    return true;
}
static void close_module(struct idl *p) {
    char *slash = strrchr(p->scope, '/');
    *(slash ? slash : p->scope) = '\0';
}

/* Reads one declaration in a file or module; *modules: number of open modules. */
static bool declaration(struct idl *p, uint32_t *modules, struct reel_error *err) {
    if (!annotations(p, err)) {
        return false;
    }
    if (ros_definition_idl_skip(p, "module")) {
        return ++*modules > MODULES_MAX ? ros_refuse(p, REEL_LIMIT, "modules nest too deep", err) : open_module(p, err);
    }
    if (*modules > 0 && ros_definition_idl_skip(p, "}")) {
        --*modules;
        close_module(p);
        return true;
    }
    if (ros_definition_idl_skip(p, ";")) {
        return true;
    }
    return ros_definition_idl_skip(p, "struct")    ? structure(p, err)
           : ros_definition_idl_skip(p, "typedef") ? alias(p, err)
           : ros_definition_idl_skip(p, "enum")    ? enumeration(p, err)
           : ros_definition_idl_skip(p, "const")   ? constant(p)
                                                   : ros_refuse(p, REEL_UNSUPPORTED, "this is not read", err);
}

bool ros_definition_read_idl(struct ros_definition *d, struct reel_bytes text, struct reel_error *err) {
    struct idl p = {.def = d, .begin = text.data, .at = text.data, .end = text.data + text.size, .line = 1};
    uint32_t modules = 0;
    ros_next(&p);
    while (p.token.size > 0) {
        if (!declaration(&p, &modules, err)) {
            return false;
        }
    }
    return modules == 0 || ros_refuse(&p, REEL_DAMAGED, "a module does not end", err);
}
