/* sensor_msgs/PointCloud2 as a binary little-endian PLY file: fields with one value, in the order of the message. */
#include <stdio.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"
#include "media/members.h"

enum { FIELDS_MAX_OF_CLOUD = 64, FIELD_NAME_MAX = 48 };

const char *const point_types[] = {"PointCloud2", NULL};

/* By sensor_msgs/PointField's numbers, from 1. */
static const struct {
    const char *name;
    unsigned size;
} number_types[] = {{"", 0},    {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2},
                    {"int", 4}, {"uint", 4}, {"float", 4}, {"double", 8}};
enum { NUMBER_TYPES = sizeof number_types / sizeof *number_types };

struct point_field {
    char name[FIELD_NAME_MAX];
    uint64_t offset, type, count;
};

struct cloud {
    struct reel_visitor visitor; /* must be the first member */
    struct reel_bytes payload;
    unsigned depth;
    bool in_fields, no_data;
    struct point_field fields[FIELDS_MAX_OF_CLOUD];
    unsigned n_fields;
    uint64_t width, height, point_step, row_step, big_endian;
    struct reel_bytes data;
    uint64_t *at; /* where the next number goes; NULL: nowhere */
    bool at_name, at_data;
};

static struct cloud *points_self(struct reel_visitor *v) {
    return (struct cloud *)v;
}

static bool go_in(struct reel_visitor *v) {
    struct cloud *c = points_self(v);
    c->depth++;
    if (c->in_fields && c->depth == 3) {
        if (c->n_fields == FIELDS_MAX_OF_CLOUD) {
            return false;
        }
        c->fields[c->n_fields++] = (struct point_field){.count = 1};
    }
    return true;
}
static bool go_out(struct reel_visitor *v) {
    points_self(v)->depth--;
    return true;
}

static void key_of_field(struct cloud *c, struct reel_bytes name) {
    struct point_field *f = &c->fields[c->n_fields - 1];
    c->at_name = bytes_is(name, "name");
    c->at = bytes_is(name, "offset")     ? &f->offset
            : bytes_is(name, "datatype") ? &f->type
            : bytes_is(name, "count")    ? &f->count
                                         : NULL;
}

static bool points_on_key(struct reel_visitor *v, struct reel_bytes name) {
    struct cloud *c = points_self(v);
    c->at = NULL;
    c->at_name = false;
    if (c->depth == 1) {
        c->in_fields = bytes_is(name, "fields");
        c->at_data = bytes_is(name, "data");
        c->at = bytes_is(name, "width")          ? &c->width
                : bytes_is(name, "height")       ? &c->height
                : bytes_is(name, "point_step")   ? &c->point_step
                : bytes_is(name, "row_step")     ? &c->row_step
                : bytes_is(name, "is_bigendian") ? &c->big_endian
                                                 : NULL;
    } else if (c->in_fields && c->depth == 3) {
        key_of_field(c, name);
    }
    return true;
}

static bool points_on_natural(struct reel_visitor *v, uint64_t value) {
    struct cloud *c = points_self(v);
    if (c->at) {
        *c->at = value;
    }
    return true;
}
static bool points_on_integer(struct reel_visitor *v, int64_t value) {
    return points_on_natural(v, value < 0 ? UINT64_MAX : (uint64_t)value);
}
static bool points_on_boolean(struct reel_visitor *v, bool value) {
    return points_on_natural(v, value);
}

static bool points_on_text(struct reel_visitor *v, struct reel_bytes value) {
    struct cloud *c = points_self(v);
    if (c->at_name) {
        snprintf(c->fields[c->n_fields - 1].name, FIELD_NAME_MAX, "%.*s",
                 (int)(value.size < FIELD_NAME_MAX ? value.size : FIELD_NAME_MAX), (const char *)value.data);
    }
    return true;
}

static bool points_on_binary(struct reel_visitor *v, struct reel_bytes value) {
    struct cloud *c = points_self(v);
    if (c->depth == 1 && c->at_data) {
        uintptr_t at = (uintptr_t)value.data, from = (uintptr_t)c->payload.data;
        c->no_data = value.size > 0 && !(at >= from && at - from < c->payload.size); /* bytes that the decoder made do
                                                                                        not stay */
        c->data = c->no_data ? bytes_of("", 0) : value;
    }
    return true;
}
static bool points_on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    (void)columns;
    return reel_number_size(type) == 1 ? points_on_binary(v, data) : true;
}

/* Leaves the fields that a PLY file can have: one number each, inside a point, with a name of one word. */
static void choose_fields(struct cloud *c) {
    unsigned n = 0;
    for (unsigned i = 0; i < c->n_fields; i++) {
        const struct point_field *f = &c->fields[i];
        bool good = f->name[0] != '\0' && f->count <= 1 && f->type > 0 && f->type < NUMBER_TYPES;
        good = good && f->offset <= c->point_step && number_types[f->type].size <= c->point_step - f->offset;
        for (const char *p = f->name; good && *p; p++) {
            good = *p > ' ' && *p < 0x7f;
        }
        if (good) {
            c->fields[n++] = *f;
        }
    }
    c->n_fields = n;
}

static bool is_colour(const struct point_field *f) {
    return (strcmp(f->name, "rgb") == 0 || strcmp(f->name, "rgba") == 0) && number_types[f->type].size == 4;
}
static unsigned put_size(const struct point_field *f) {
    return is_colour(f) ? 3 : number_types[f->type].size;
}

/* Row by row: rows may end with bytes that are no points. */
static bool points_check(struct cloud *c, uint64_t *points, struct reel_error *err) {
    c->row_step = c->height <= 1 ? 0 : c->row_step;
    bool good = c->width <= REEL_DECODED_MAX && c->height <= REEL_DECODED_MAX && c->point_step <= REEL_DECODED_MAX &&
                c->row_step <= REEL_DECODED_MAX && c->width * c->height <= REEL_DECODED_MAX;
    uint64_t row = good ? c->width * c->point_step : 0;
    *points = good ? c->width * c->height : 0;
    good = good && (*points == 0 || ((c->height - 1) * c->row_step + row <= c->data.size && c->point_step > 0));
    return good ||
           reel_fail(err, REEL_DAMAGED, "the point cloud has %zu bytes, fewer than its sizes ask for", c->data.size);
}

static void points_put_head(struct grow *g, const struct cloud *c, uint64_t points) {
    char line[96];
    grow_text(g, "ply\nformat binary_little_endian 1.0\n");
    snprintf(line, sizeof line, "element vertex %llu\n", (unsigned long long)points);
    grow_text(g, line);
    for (unsigned i = 0; i < c->n_fields; i++) {
        if (is_colour(&c->fields[i])) {
            grow_text(g, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
        } else {
            snprintf(line, sizeof line, "property %s %s\n", number_types[c->fields[i].type].name, c->fields[i].name);
            grow_text(g, line);
        }
    }
    grow_text(g, "end_header\n");
}

/* One value as little-endian bytes; a colour is 0x00RRGGBB. */
static uint8_t *points_put_value(uint8_t *to, const struct point_field *f, const uint8_t *from, bool big_endian) {
    unsigned size = number_types[f->type].size;
    uint8_t value[8];
    for (unsigned i = 0; i < size; i++) {
        value[i] = from[big_endian ? size - 1 - i : i];
    }
    if (is_colour(f)) {
        to[0] = value[2];
        to[1] = value[1];
        to[2] = value[0];
    } else {
        memcpy(to, value, size);
    }
    return to + put_size(f);
}

static bool put_points(struct grow *g, const struct cloud *c, uint64_t points, struct reel_error *err) {
    uint64_t stride = 0;
    for (unsigned i = 0; i < c->n_fields; i++) {
        stride += put_size(&c->fields[i]);
    }
    if (stride * points > REEL_MESSAGE_MEMORY_MAX) {
        return reel_fail(err, REEL_LIMIT, "the point cloud has %llu points, too many for a PLY file",
                         (unsigned long long)points);
    }
    uint8_t *to = grow_take(g, (size_t)(stride * points));
    for (uint64_t row = 0; to && stride > 0 && row < c->height; row++) {
        const uint8_t *point = c->data.data + row * c->row_step;
        for (uint64_t i = 0; i < c->width; i++, point += c->point_step) {
            for (unsigned k = 0; k < c->n_fields; k++) {
                to = points_put_value(to, &c->fields[k], point + c->fields[k].offset, c->big_endian != 0);
            }
        }
    }
    return !g->failed || reel_fail_memory(err);
}

bool points_make(const struct reel_decoder *decoder, struct reel_bytes payload, struct member *member,
                 struct reel_error *err) {
    static const struct reel_visitor_ops ops = {.begin_map = go_in,
                                                .end_map = go_out,
                                                .begin_list = go_in,
                                                .end_list = go_out,
                                                .key = points_on_key,
                                                .boolean = points_on_boolean,
                                                .integer = points_on_integer,
                                                .natural = points_on_natural,
                                                .text = points_on_text,
                                                .binary = points_on_binary,
                                                .numbers = points_on_numbers};
    AUTO_MEM struct cloud *c = calloc(1, sizeof *c);
    struct grow file = {0};
    uint64_t points;
    if (!c) {
        return reel_fail_memory(err);
    }
    c->visitor.ops = &ops;
    c->payload = payload;
    struct reel_error why = {0};
    if (!reel_decode(decoder, payload, &c->visitor, &why)) {
        return why.code != REEL_OK
                   ? reel_error_pass(err, &why)
                   : reel_fail(err, REEL_LIMIT, "the point cloud has more than %d fields", FIELDS_MAX_OF_CLOUD);
    }
    if (c->no_data) {
        return reel_fail(err, REEL_UNSUPPORTED, "the points of this encoding are not written");
    }
    choose_fields(c);
    if (!points_check(c, &points, err)) {
        return false;
    }
    points_put_head(&file, c, points);
    if (!put_points(&file, c, points, err)) {
        free(file.data);
        return false;
    }
    *member = (struct member){.data = bytes_of(file.data, file.size), .extension = ".ply", .own = file.data};
    return true;
}
