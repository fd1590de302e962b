/* What viewers draw of RSB: images, poses and laser scans of RST, as messages of Foxglove. The types are known by their
 * names, their fields by the definition in the log; without one nothing is drawn. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "decode/decoder.h"
#include "formats/foxglove/view.h"
#include "formats/tide/rsb.h"
#include "media/picture.h"
#include "syntax/json_out.h"

enum { PATH_ROOM = 128, LEVELS_MAX = 8 };

enum drawn { NOT_DRAWN, IMAGE, ENCODED_IMAGE, POSE, SCAN };

static enum drawn drawn_as(const struct reel_channel *c) {
    static const struct {
        const char *type;
        enum drawn drawn;
    } types[] = {{".rst.vision.Image", IMAGE},
                 {".rst.vision.EncodedImage", ENCODED_IMAGE},
                 {".rst.geometry.Pose", POSE},
                 {".rst.vision.LaserScan", SCAN},
                 {".rst.vision.LocatedLaserScan", SCAN}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(c->type, types[i].type) == 0) {
            return types[i].drawn;
        }
    }
    return NOT_DRAWN;
}

static unsigned rsb_role(const struct reel_channel *c) {
    return drawn_as(c) != NOT_DRAWN ? VIEW_HERE : 0;
}

/* ---- topics */

struct rsb_topic {
    const struct reel_channel *channel; /* of the feed's stream */
    struct reel_decoder *decoder;       /* NULL: its definition is invalid */
    enum drawn drawn;
    uint32_t topic;
};
struct rsb_view {
    struct rsb_topic *items;
    size_t count, capacity;
};

static const struct view_schema *const schemas[] = {[IMAGE] = &view_schema_raw_image,
                                                    [ENCODED_IMAGE] = &view_schema_compressed_image,
                                                    [POSE] = &view_schema_poses,
                                                    [SCAN] = &view_schema_scan};

static bool open_topic(struct view_maker *m, const struct reel_channel *channel, struct reel_error *err) {
    struct rsb_view *s = m->state;
    char name[1024];
    if (!GROW_ARRAY(s->items, s->count, s->capacity)) {
        return reel_fail_memory(err);
    }
    snprintf(name, sizeof name, "/view%s%s", channel->name[0] == '/' ? "" : "/", channel->name);
    struct rsb_topic *t = &s->items[s->count++];
    *t = (struct rsb_topic){.channel = channel, .drawn = drawn_as(channel)};
    return decoder_try(channel, &t->decoder, err) && view_topic(m, name, schemas[t->drawn], &t->topic, err);
}
static void forget_topics(void *state) {
    (void)state;
}
static void close_topics(void *state) {
    struct rsb_view *s = state;
    for (size_t i = 0; i < s->count; i++) {
        reel_decoder_free(s->items[i].decoder);
    }
    free(s->items);
}

/* ---- images */

static void put_image(struct grow *g, int64_t ns, const struct reel_image *image) {
    fg_put(g, "{");
    fg_time(g, ns);
    fg_put(g, ",\"frame_id\":\"\"");
    if (image->compressed) {
        fg_put(g, image->form == REEL_PICTURE_PNG ? ",\"format\":\"png\"" : ",\"format\":\"jpeg\"");
    } else {
        fg_put(g, ",\"width\":");
        fg_count(g, image->width);
        fg_put(g, ",\"height\":");
        fg_count(g, image->height);
        fg_put(g, ",\"encoding\":");
        fg_text(g, bytes_text(image->encoding));
        fg_put(g, ",\"step\":");
        fg_count(g, image->step);
    }
    fg_put(g, ",\"data\":\"");
    json_put_base64(g, image->data);
    fg_put(g, "\"}");
}

/* An image that is not read is not drawn. */
static bool draw_image(struct view_maker *m, const struct rsb_topic *t, int64_t ns, struct reel_bytes payload,
                       struct reel_error *err) {
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    struct reel_error why = {0};
    if (!reel_image_read(t->decoder, payload, &image, &why)) {
        return reel_error_ignore(err, &why);
    }
    bool fits = image.compressed == (t->drawn == ENCODED_IMAGE);
    struct grow *g = fits ? view_begin(m, t->topic) : NULL;
    if (g) {
        put_image(g, ns, &image);
    }
    return !g || view_end(m, err);
}

/* ---- poses and scans */

enum number { X, Y, Z, QX, QY, QZ, QW, FIRST_ANGLE, ANGLE_STEP, ANGLE, NUMBERS };

struct geometry {
    struct reel_visitor visitor; /* must be the first member */
    unsigned depth;
    char path[PATH_ROOM]; /* of the value, with a dot before each key */
    size_t ends[LEVELS_MAX];
    bool deep; /* the path is too long for what is looked for */
    double numbers[NUMBERS];
    unsigned met; /* bits by number */
    struct grow frame, ranges;
};

static bool enter(struct reel_visitor *v) {
    return ++((struct geometry *)v)->depth > 0;
}
static bool leave(struct reel_visitor *v) {
    ((struct geometry *)v)->depth--;
    return true;
}

static bool on_key(struct reel_visitor *v, struct reel_bytes name) {
    struct geometry *s = (struct geometry *)v;
    unsigned level = s->depth - 1;
    if (level >= LEVELS_MAX) {
        return true;
    }
    size_t at = level == 0 ? 0 : s->ends[level - 1];
    s->deep = at + name.size + 2 > PATH_ROOM;
    if (!s->deep) {
        s->path[at] = '.';
        memcpy(s->path + at + 1, name.data, name.size);
        at += name.size + 1;
    }
    s->path[at] = '\0';
    s->ends[level] = at;
    return true;
}

/* The path in the payload; that of a pose also where it is the sensor's. */
static const char *field_of(const struct geometry *s) {
    static const char payload[] = ".payload.", sensor[] = "sensor_pose.";
    bool inside = !s->deep && strncmp(s->path, payload, sizeof payload - 1) == 0;
    const char *field = inside ? s->path + sizeof payload - 1 : "";
    return field + (strncmp(field, sensor, sizeof sensor - 1) == 0 ? sizeof sensor - 1 : 0);
}

static bool on_real(struct reel_visitor *v, double value) {
    static const char *const names[NUMBERS] = {
        "translation.x", "translation.y", "translation.z",    "rotation.qx",          "rotation.qy",
        "rotation.qz",   "rotation.qw",   "scan_angle_start", "scan_angle_increment", "scan_angle"};
    struct geometry *s = (struct geometry *)v;
    const char *field = field_of(s);
    for (unsigned i = 0; i < NUMBERS; i++) {
        if (strcmp(field, names[i]) == 0) {
            s->numbers[i] = value;
            s->met |= 1U << i;
        }
    }
    if (strcmp(field, "scan_values") == 0) {
        grow_put(&s->ranges, &value, sizeof value);
    }
    return !s->ranges.failed;
}
static bool on_real32(struct reel_visitor *v, float value) {
    return on_real(v, value);
}
static bool on_integer(struct reel_visitor *v, int64_t value) {
    return on_real(v, (double)value);
}
static bool on_natural(struct reel_visitor *v, uint64_t value) {
    return on_real(v, (double)value);
}
static bool on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    (void)columns;
    for (size_t i = 0; type == REEL_F32 && i + 4 <= data.size; i += 4) {
        float value;
        memcpy(&value, data.data + i, sizeof value);
        if (!on_real(v, value)) {
            return false;
        }
    }
    return true;
}
static bool on_text(struct reel_visitor *v, struct reel_bytes text) {
    struct geometry *s = (struct geometry *)v;
    if (strcmp(field_of(s), "translation.frame_id") == 0) {
        s->frame.size = 0;
        grow_put(&s->frame, text.data, text.size);
    }
    return !s->frame.failed;
}

static const struct reel_visitor_ops geometry_ops = {.begin_map = enter,
                                                     .key = on_key,
                                                     .end_map = leave,
                                                     .begin_list = enter,
                                                     .end_list = leave,
                                                     .integer = on_integer,
                                                     .natural = on_natural,
                                                     .real = on_real,
                                                     .real32 = on_real32,
                                                     .text = on_text,
                                                     .numbers = on_numbers};

static void put_head(struct grow *g, const struct geometry *s, int64_t ns) {
    fg_put(g, "{");
    fg_time(g, ns);
    fg_put(g, ",\"frame_id\":");
    fg_text(g, s->frame.size > 0 ? bytes_of(s->frame.data, s->frame.size) : bytes_text("rsb"));
}

static struct view_vec position_of(const struct geometry *s) {
    return (struct view_vec){s->numbers[X], s->numbers[Y], s->numbers[Z]};
}
static struct view_quat rotation_of(const struct geometry *s) {
    return s->met & 1U << QW ? (struct view_quat){s->numbers[QX], s->numbers[QY], s->numbers[QZ], s->numbers[QW]}
                             : VIEW_UPRIGHT;
}

static void put_pose(struct grow *g, const struct geometry *s, int64_t ns) {
    put_head(g, s, ns);
    fg_put(g, ",\"poses\":[{\"position\":");
    fg_point(g, position_of(s));
    fg_put(g, ",\"orientation\":");
    fg_quat(g, rotation_of(s));
    fg_put(g, "}]}");
}

/* A scan that does not say where it starts is centred ahead. */
static void put_scan(struct grow *g, const struct geometry *s, int64_t ns) {
    size_t n = s->ranges.size / sizeof(double);
    double angle = s->numbers[ANGLE], first = s->met & 1U << FIRST_ANGLE ? s->numbers[FIRST_ANGLE] : -angle / 2;
    double step = s->met & 1U << ANGLE_STEP ? s->numbers[ANGLE_STEP] : n > 1 ? angle / (double)(n - 1) : 0;
    put_head(g, s, ns);
    fg_pose(g, position_of(s), rotation_of(s));
    fg_put(g, ",\"start_angle\":");
    fg_double(g, first);
    fg_put(g, ",\"end_angle\":");
    fg_double(g, n > 0 ? first + step * (double)(n - 1) : first);
    fg_put(g, ",\"ranges\":[");
    for (size_t i = 0; i < n; i++) {
        double range;
        memcpy(&range, s->ranges.data + i * sizeof range, sizeof range);
        fg_comma(g);
        fg_number(g, range);
    }
    fg_put(g, "],\"intensities\":[]}");
}

static bool draw_geometry(struct view_maker *m, const struct rsb_topic *t, int64_t ns, struct reel_bytes payload,
                          struct reel_error *err) {
    struct geometry s = {.visitor = {.ops = &geometry_ops}};
    bool read, good = decode_try(t->decoder, payload, &s.visitor, &read, err);
    bool drawn = good && read && (t->drawn == SCAN ? s.ranges.size > 0 : (s.met & 1U << X) != 0);
    struct grow *g = drawn ? view_begin(m, t->topic) : NULL;
    if (g) {
        (t->drawn == SCAN ? put_scan : put_pose)(g, &s, ns);
        good = view_end(m, err);
    }
    grow_done(&s.frame);
    grow_done(&s.ranges);
    return good;
}

static bool take_event(struct view_maker *m, const struct reel_channel *channel, const struct reel_message *message,
                       struct reel_bytes payload, struct reel_error *err) {
    const struct rsb_view *s = m->state;
    const struct rsb_topic *t = s->items;
    while (t < s->items + s->count && t->channel != channel) {
        t++;
    }
    if (m->silent || t == s->items + s->count || !t->decoder) {
        return true;
    }
    return (t->drawn == IMAGE || t->drawn == ENCODED_IMAGE ? draw_image : draw_geometry)(m, t, message->time_ns,
                                                                                         payload, err);
}

const struct view_transform view_rsb = {
    .encoding = &reel_encoding_rsb,
    .role = rsb_role,
    .state_size = sizeof(struct rsb_view),
    .open = open_topic,
    .close = close_topics,
    .forget = forget_topics,
    .take = take_event,
};
