/* See md5.h. The sum of a type is the MD5 of its constants ("type name=value"), then its fields ("type name"), one
 * per line; in a field whose type is a message, the type's name is replaced by the sum of that type (also for arrays).
 */
#include "formats/ros/md5.h"

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "formats/ros/text.h"

enum state { NEW, OPEN, DONE };

struct type {
    char name[ROS_NAME_ROOM];
    struct reel_bytes text;
    enum state state;
    char md5[MD5_HEX];
};

struct summing {
    struct type *types;
    size_t count, capacity;
    struct hash_table by_name; /* 1 + index in types */
    struct reel_error *err;
};

static bool split_types(struct summing *s, const char *top, struct reel_bytes text) {
    struct ros_sections sections = {.rest = text, .heading = ros_heading(ROS_LANGUAGE_MSG)};
    struct ros_section section;
    for (bool first = true; ros_sections_next(&sections, &section); first = false) {
        if (s->count >= REEL_DEFINITION_TYPES_MAX) {
            return reel_fail(s->err, REEL_LIMIT, "a definition of more than %d types", REEL_DEFINITION_TYPES_MAX);
        }
        if (!GROW_ARRAY(s->types, s->count, s->capacity)) {
            return reel_fail_memory(s->err);
        }
        struct type *t = &s->types[s->count];
        t->text = section.text;
        t->state = NEW;
        s->count += ros_type_name(first ? bytes_text(top) : section.name, false, t->name);
    }
    for (size_t i = 0; i < s->count; i++) { /* after the table has stopped moving */
        struct hash_key key = hash_key_bytes(bytes_text(s->types[i].name));
        uintptr_t before = hash_table_get(&s->by_name, key);
        bool heading_for_the_first = before == 1 && i == 1 && ros_trim(s->types[0].text).size == 0;
        if ((before == 0 || heading_for_the_first) && !hash_table_set(&s->by_name, key, i + 1, s->err)) {
            return false;
        }
    }
    return true;
}

static struct type *find_type(const struct summing *s, const char *name) {
    uintptr_t found = hash_table_get(&s->by_name, hash_key_bytes(bytes_text(name)));
    return found ? &s->types[found - 1] : NULL;
}

/* Finds the type that a field of `owner` names. */
static struct type *ros_resolve(const struct summing *s, const struct type *owner, const char *name) {
    char path[2 * ROS_NAME_ROOM];
    strcpy(path, owner->name);
    char *slash = strrchr(path, '/');
    if (!slash || strchr(name, '/')) {
        return find_type(s, name);
    }
    strcpy(slash + 1, name);
    struct type *near = find_type(s, path);
    return near ? near : find_type(s, name);
}

/* All historical names of a header are the same type. */
static struct type *find_header(const struct summing *s) {
    static const char *const names[] = {"std_msgs/Header", "roslib/Header", "rostools/Header", "Header"};
    struct type *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) {
        found = find_type(s, names[i]);
    }
    return found;
}

static bool is_builtin(struct reel_bytes type) {
    static const char *const names[] = {"bool",   "int8",     "uint8",  "int16",   "uint16",  "int32",
                                        "uint32", "int64",    "uint64", "float32", "float64", "string",
                                        "time",   "duration", "char",   "byte"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (bytes_is(type, names[i])) {
            return true;
        }
    }
    return false;
}

static void ros_md5_put(struct grow *out, struct reel_bytes type, char between, struct reel_bytes rest,
                        const char *separator, struct reel_bytes value) {
    if (out->size > 0) {
        grow_u8(out, '\n');
    }
    grow_put(out, type.data, type.size);
    grow_u8(out, (uint8_t)between);
    grow_put(out, rest.data, rest.size);
    grow_put(out, separator, strlen(separator));
    grow_put(out, value.data, value.size);
}

/* Cuts off everything up to the first blank; `text` becomes the rest. */
static struct reel_bytes next_word(struct reel_bytes *text) {
    size_t n = 0;
    while (n < text->size && !ros_is_blank(text->data[n])) {
        n++;
    }
    struct reel_bytes word = bytes_of(text->data, n);
    *text = ros_trim(bytes_of(text->data + n, text->size - n));
    return word;
}

static struct reel_bytes up_to(struct reel_bytes text, char end) {
    const uint8_t *found = text.size > 0 ? memchr(text.data, end, text.size) : NULL;
    return bytes_of(text.data, found ? (size_t)(found - text.data) : text.size);
}

/* "type name=value". The value of a string extends to the end of the line, including "#". */
static void ros_md5_put_constant(struct grow *out, struct reel_bytes line) {
    struct reel_bytes rest = line, type = next_word(&rest), name = up_to(rest, '=');
    struct reel_bytes value = bytes_of(rest.data + name.size, rest.size - name.size);
    value = value.size > 0 ? bytes_of(value.data + 1, value.size - 1) : value;
    ros_md5_put(out, type, ' ', ros_trim(name), "=", ros_trim(bytes_is(type, "string") ? value : up_to(value, '#')));
}

static bool sum_type(struct summing *s, struct type *t, unsigned level);

static bool ros_md5_put_field(struct summing *s, struct type *owner, struct grow *out, struct reel_bytes line,
                              unsigned level) {
    static const char header_md5[] = "2176decaecbce78abc3b96ef049fabed"; /* std_msgs/Header, which recorders may leave
                                                                            out */
    struct reel_bytes rest = line, type = next_word(&rest), name = next_word(&rest), base = up_to(type, '[');
    if (is_builtin(base)) {
        ros_md5_put(out, type, ' ', name, "", bytes_of("", 0));
        return true;
    }
    char known[ROS_NAME_ROOM];
    if (!ros_type_name(base, false, known)) {
        return reel_fail(s->err, REEL_UNSUPPORTED, "%.128s: this is not a field: %.*s", owner->name,
                         (int)(line.size < 80 ? line.size : 80), (const char *)line.data);
    }
    bool header =
        strcmp(known, "Header") == 0 || strcmp(known, "std_msgs/Header") == 0 || strcmp(known, "roslib/Header") == 0;
    struct type *of = header ? find_header(s) : ros_resolve(s, owner, known);
    if (!of && !header) {
        return reel_fail(s->err, REEL_UNSUPPORTED, "%.128s, which %.128s holds, is not in the definition", known,
                         owner->name);
    }
    if (of && !sum_type(s, of, level + 1)) {
        return false;
    }
    ros_md5_put(out, bytes_text(of ? of->md5 : header_md5), ' ', name, "", bytes_of("", 0));
    return true;
}

/* Constants are hashed before fields, whatever their order in the text. */
static bool ros_md5_put_lines(struct summing *s, struct type *t, struct grow *out, bool constants, unsigned level) {
    for (struct reel_bytes rest = t->text; rest.size > 0;) {
        struct reel_bytes line = ros_trim(ros_next_line(&rest)), bare = ros_trim(up_to(line, '#'));
        bool constant = bare.size > 0 && memchr(bare.data, '=', bare.size);
        if (bare.size == 0 || constant != constants || bytes_start(bare, bytes_text("==="))) {
            continue;
        }
        if (constant) {
            ros_md5_put_constant(out, line);
        } else if (!ros_md5_put_field(s, t, out, bare, level)) {
            return false;
        }
    }
    return true;
}

static bool sum_type(struct summing *s, struct type *t, unsigned level) {
    if (t->state == DONE) {
        return true;
    }
    if (t->state == OPEN || level > REEL_DEPTH_MAX) {
        return reel_fail(s->err, REEL_UNSUPPORTED, "%.128s holds itself, or nests too deep", t->name);
    }
    t->state = OPEN;
    struct grow text = {0};
    bool good = ros_md5_put_lines(s, t, &text, true, level) && ros_md5_put_lines(s, t, &text, false, level);
    if (good && !text.failed) {
        digest_hex(DIGEST_MD5, bytes_of(text.data, text.size), t->md5);
        t->state = DONE;
    }
    free(text.data);
    return good && (!text.failed || reel_fail_memory(s->err));
}

bool ros_md5(const char *type, struct reel_bytes definition, char out[MD5_HEX], struct reel_error *err) {
    struct summing s = {.err = err};
    char name[ROS_NAME_ROOM];
    bool good = ros_type_name(bytes_text(type), false, name)
                    ? split_types(&s, type, definition)
                    : reel_fail(err, REEL_UNSUPPORTED, "\"%.128s\" is not the name of a type", type);
    struct type *top = good ? find_type(&s, name) : NULL;
    good = top && sum_type(&s, top, 1);
    if (good) {
        memcpy(out, top->md5, MD5_HEX);
    }
    hash_table_free(&s.by_name);
    free(s.types);
    return good;
}
