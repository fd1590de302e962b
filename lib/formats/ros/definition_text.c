/* Reads definitions in the .msg format: a line is a field, a constant or a comment. Constants and default values are
 * skipped, because payloads do not contain them. */
#include "formats/ros/definition_text.h"

#include "base/bytes.h"
#include "base/limits.h"

struct reading {
    struct ros_definition *def;
    bool whole_names;
    bool first;                 /* no heading so far */
    bool heading;               /* the last line was one of "=": the name follows */
    uint32_t line;              /* line number, from 1 */
    const uint8_t *begin, *end; /* the lines of the last type so far */
};

static bool ros_damaged(const struct reading *r, const char *what, struct reel_bytes text, struct reel_error *err) {
    return reel_fail(err, REEL_DAMAGED, "line %u: %s: %.*s", r->line, what, (int)(text.size < 80 ? text.size : 80),
                     (const char *)text.data);
}

static bool letter(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Takes the bytes up to the first one that `in` does not accept. */
static struct reel_bytes span(struct reel_bytes *text, bool (*in)(uint8_t c)) {
    size_t n = 0;
    while (n < text->size && in(text->data[n])) {
        n++;
    }
    struct reel_bytes found = bytes_of(text->data, n);
    *text = bytes_of(text->data + n, text->size - n);
    return found;
}
static bool in_word(uint8_t c) {
    return !ros_is_blank(c);
}
static bool in_type(uint8_t c) {
    return letter(c) || c == '/';
}

static bool ros_definition_text_skip(struct reel_bytes *text, const char *what) {
    size_t n = strlen(what);
    bool there = bytes_start(*text, bytes_text(what));
    *text = there ? bytes_of(text->data + n, text->size - n) : *text;
    return there;
}
static bool ros_definition_text_number(struct reel_bytes *text, uint32_t *out) {
    uint64_t value = 0;
    size_t n = 0;
    for (; n < text->size && text->data[n] >= '0' && text->data[n] <= '9' && value <= UINT32_MAX; n++) {
        value = value * 10 + (text->data[n] - '0');
    }
    *text = bytes_of(text->data + n, text->size - n);
    *out = (uint32_t)value;
    return n > 0 && value <= UINT32_MAX;
}

/* "float64[36]", "string<=10[<=5]". */
static bool ros_read_type(struct reading *r, struct reel_bytes word, struct ros_definition_step *s,
                          struct reel_error *err) {
    struct reel_bytes rest = word, base = span(&rest, in_type);
    bool ros2 = r->def->dialect == ROS_2, good = base.size > 0 && base.size < ROS_NAME_ROOM;
    if (good && ros2 && (bytes_is(base, "string") || bytes_is(base, "wstring")) &&
        ros_definition_text_skip(&rest, "<=")) {
        good = ros_definition_text_number(&rest, &s->bound);
    }
    if (good && ros_definition_text_skip(&rest, "[")) {
        bool open = rest.size > 0 && rest.data[0] == ']', list = !open && ros2 && ros_definition_text_skip(&rest, "<=");
        s->many = open || list ? ROS_LIST : ROS_ARRAY;
        s->count = UINT32_MAX;
        good = (open || ros_definition_text_number(&rest, &s->count)) && ros_definition_text_skip(&rest, "]");
    }
    if (!good || rest.size > 0) {
        return ros_damaged(r, "this is not a type", word, err);
    }
    return ros_definition_set_word(r->def, s, base, err);
}

bool ros_line_read(struct reel_bytes line, struct ros_line *out) {
    struct reel_bytes rest = ros_trim(line);
    *out = (struct ros_line){0};
    if (rest.size == 0 || rest.data[0] == '#') {
        return false;
    }
    out->word = span(&rest, in_word);
    span(&rest, ros_is_blank);
    out->name = span(&rest, letter);
    rest = ros_trim(rest);
    out->is_constant = rest.size > 0 && rest.data[0] == '=';
    out->value = out->is_constant                       ? ros_trim(bytes_of(rest.data + 1, rest.size - 1))
                 : rest.size > 0 && rest.data[0] != '#' ? rest
                                                        : bytes_of("", 0);
    return out->name.size > 0;
}

static bool ros_read_field(struct reading *r, struct reel_bytes line, struct reel_error *err) {
    struct ros_line l;
    if (!ros_line_read(line, &l) || (!l.is_constant && l.value.size > 0 && r->def->dialect == ROS_1)) {
        return ros_damaged(r, "this is not a field", line, err);
    }
    if (l.is_constant) {
        return true;
    }
    struct ros_definition_step *s = ros_definition_add_step(r->def, l.name, err);
    return s && ros_read_type(r, l.word, s, err);
}

static bool ros_definition_text_add_type(struct reading *r, struct reel_bytes name, struct reel_error *err) {
    char text[ROS_NAME_ROOM];
    if (!ros_type_name(name, r->whole_names, text)) {
        return ros_damaged(r, "this is not the name of a type", name, err);
    }
    return ros_definition_add_type(r->def, bytes_text(text), err) != NULL;
}

/* A ROS 2 type without fields has one byte in the payload. */
static bool end_type(struct reading *r, struct reel_error *err) {
    struct ros_definition *d = r->def;
    size_t size = (size_t)(r->end - r->begin);
    const uint8_t *text = arena_copy(&d->arena, r->begin, size);
    if (!text) {
        return reel_fail_memory(err);
    }
    d->types[d->n_types - 1].text = bytes_of(text, size);
    if (d->dialect == ROS_1 || d->types[d->n_types - 1].count > 0) {
        return true;
    }
    struct ros_definition_step *s = ros_definition_add_step(d, bytes_text("nothing"), err);
    if (!s) {
        return false;
    }
    s->hidden = true;
    return ros_definition_set_word(d, s, bytes_text("uint8"), err);
}

static bool read_heading(struct reading *r, struct reel_bytes line, struct reel_error *err) {
    struct ros_definition *d = r->def;
    if (!ros_definition_text_skip(&line, "MSG:")) {
        return ros_damaged(r, "after a line of = this is no \"MSG: name\"", line, err);
    }
    const struct ros_definition_type *top = &d->types[d->n_types - 1];
    char name[ROS_NAME_ROOM];
    if (r->first && top->count == 0 && ros_type_name(ros_trim(line), r->whole_names, name) &&
        strcmp(name, top->name) == 0) {
        d->n_types--; /* some writers put a heading before the first type too */
    } else if (!end_type(r, err)) {
        return false;
    }
    r->first = r->heading = false;
    return ros_definition_text_add_type(r, ros_trim(line), err);
}

static bool read_line(struct reading *r, struct reel_bytes line, struct reel_error *err) {
    if (bytes_start(line, bytes_text("==="))) {
        r->heading = true;
        return true;
    }
    if (line.size == 0 || line.data[0] == '#') {
        return true;
    }
    if (r->heading) {
        return read_heading(r, line, err);
    }
    return ros_read_field(r, line, err);
}

bool ros_definition_read_text(struct ros_definition *d, const char *top, bool whole_names, struct reel_bytes text,
                              struct reel_error *err) {
    struct reading r = {.def = d, .whole_names = whole_names, .first = true};
    if (!ros_definition_text_add_type(&r, bytes_text(top), err)) {
        return false;
    }
    text = text.size > 0 ? text : bytes_of("", 0);
    r.begin = text.data;
    while (text.size > 0) {
        bool heading = r.heading;
        r.line++;
        r.end = r.heading ? r.end : text.data; /* a heading's line of "=" has ended the type before */
        if (!read_line(&r, ros_trim(ros_next_line(&text)), err)) {
            return false;
        }
        r.begin = heading && !r.heading ? text.data : r.begin;
    }
    r.end = r.heading ? r.end : text.data;
    return end_type(&r, err);
}
