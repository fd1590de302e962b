/* ROS point clouds from before 2010 (sensor_msgs/PointCloud, which viewers do not draw) as foxglove.PointCloud:
 * positions and channels interleaved, with frame and time of their header. */
#include "base/bytes.h"
#include "decode/decoder.h"
#include "formats/foxglove/view.h"
#include "formats/ros/ros.h"
#include "syntax/json_out.h"

enum { CLOUD_CHANNELS_MAX = 32, CLOUD_DEPTH_MAX = 8 };

struct cloud_topic {
    const struct reel_channel *channel; /* of the feed's stream */
    struct reel_decoder *decoder;       /* NULL: its definition is invalid */
    uint32_t topic;
};
struct clouds {
    struct cloud_topic *items;
    size_t count, capacity;
};

static unsigned foxglove_role(const struct reel_channel *c) {
    static const char *const types[] = {"sensor_msgs/PointCloud", "std_msgs/PointCloud", "robot_msgs/PointCloud"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(c->type, types[i]) == 0) {
            return VIEW_HERE;
        }
    }
    return 0;
}

static bool foxglove_open_channel(struct view_maker *m, const struct reel_channel *channel, struct reel_error *err) {
    struct clouds *s = m->state;
    char name[1024] = "/view";
    size_t room = sizeof name - 8, size = strlen(channel->name) < room ? strlen(channel->name) : room;
    if (!GROW_ARRAY(s->items, s->count, s->capacity)) {
        return reel_fail_memory(err);
    }
    memcpy(name + 5, channel->name[0] == '/' ? "" : "/", channel->name[0] != '/');
    memcpy(name + 5 + (channel->name[0] != '/'), channel->name, size);
    struct cloud_topic *t = &s->items[s->count++];
    *t = (struct cloud_topic){.channel = channel};
    return decoder_try(channel, &t->decoder, err) && view_topic(m, name, &view_schema_cloud, &t->topic, err);
}
static void foxglove_forget(void *state) {
    (void)state;
}
static void foxglove_close_state(void *state) {
    struct clouds *s = state;
    for (size_t i = 0; i < s->count; i++) {
        reel_decoder_free(s->items[i].decoder);
    }
    free(s->items);
}

/* --- one message --- */

enum part { PART_NONE, PART_STAMP, PART_FRAME, PART_POINTS, PART_CHANNELS };
struct cloud {
    struct reel_visitor visitor; /* must be the first member */
    unsigned depth;              /* depth of maps and lists */
    enum part part;
    bool header; /* keys on the path to the current value */
    char axis;   /* in a point: x, y, z; in a channel: n name, v values; in the stamp: s, n */
    uint64_t sec, nsec;
    struct grow frame, points, values; /* points: f32 × 3; values: of all channels, f32 */
    struct {
        char name[64];
        size_t size, at, count; /* of the name; of its values */
    } channels[CLOUD_CHANNELS_MAX];
    unsigned n_channels;
    uint8_t point[12];
};

static bool word_is(struct reel_bytes name, const char *one, const char *other) {
    return bytes_is(name, one) || (other && bytes_is(name, other));
}

static bool foxglove_on_key(struct reel_visitor *v, struct reel_bytes name) {
    struct cloud *c = (struct cloud *)v;
    if (c->depth == 1) {
        c->header = bytes_is(name, "header");
        c->part = word_is(name, "points", "pts")      ? PART_POINTS
                  : word_is(name, "channels", "chan") ? PART_CHANNELS
                                                      : PART_NONE;
    } else if (c->depth == 2 && c->header) {
        c->part = bytes_is(name, "stamp") ? PART_STAMP : bytes_is(name, "frame_id") ? PART_FRAME : PART_NONE;
    } else {
        c->axis = word_is(name, "values", "vals") ? 'v' : name.size > 0 ? (char)name.data[0] : ' ';
    }
    return true;
}

static bool foxglove_on_begin(struct reel_visitor *v) {
    struct cloud *c = (struct cloud *)v;
    c->depth++;
    c->axis = ' ';
    if (c->part == PART_POINTS && c->depth == 3) {
        memset(c->point, 0, sizeof c->point);
    } else if (c->part == PART_CHANNELS && c->depth == 3 && c->n_channels++ < CLOUD_CHANNELS_MAX) {
        c->channels[c->n_channels - 1].at = c->values.size;
        c->channels[c->n_channels - 1].count = c->channels[c->n_channels - 1].size = 0;
    }
    return c->depth < CLOUD_DEPTH_MAX;
}
static bool foxglove_on_end(struct reel_visitor *v) {
    struct cloud *c = (struct cloud *)v;
    if (c->part == PART_POINTS && c->depth == 3) {
        grow_put(&c->points, c->point, sizeof c->point);
    }
    c->depth--;
    return !c->points.failed && !c->values.failed && !c->frame.failed;
}

static bool on_value(struct reel_visitor *v, float value) {
    struct cloud *c = (struct cloud *)v;
    if (c->part == PART_POINTS && c->axis >= 'x' && c->axis <= 'z') {
        memcpy(c->point + 4 * (c->axis - 'x'), &value, sizeof value);
    }
    return true;
}
static bool foxglove_on_natural(struct reel_visitor *v, uint64_t value) {
    struct cloud *c = (struct cloud *)v;
    if (c->part == PART_STAMP) {
        *(c->axis == 's' ? &c->sec : &c->nsec) = value;
    }
    return true;
}
static bool foxglove_on_text(struct reel_visitor *v, struct reel_bytes text) {
    struct cloud *c = (struct cloud *)v;
    if (c->part == PART_FRAME && c->depth == 2) {
        grow_put(&c->frame, text.data, text.size);
    } else if (c->part == PART_CHANNELS && c->axis == 'n' && c->n_channels <= CLOUD_CHANNELS_MAX && c->n_channels > 0) {
        size_t n = text.size < sizeof c->channels[0].name ? text.size : sizeof c->channels[0].name;
        memcpy(c->channels[c->n_channels - 1].name, text.data, n);
        c->channels[c->n_channels - 1].size = n;
    }
    return true;
}
static bool foxglove_on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                unsigned columns) {
    struct cloud *c = (struct cloud *)v;
    (void)columns;
    if (c->part == PART_CHANNELS && c->axis == 'v' && type == REEL_F32 && c->n_channels <= CLOUD_CHANNELS_MAX &&
        c->n_channels > 0) {
        c->channels[c->n_channels - 1].at = c->values.size;
        c->channels[c->n_channels - 1].count = data.size / 4;
        grow_put(&c->values, data.data, data.size);
    }
    return !c->values.failed;
}

static const struct reel_visitor_ops cloud_ops = {.begin_map = foxglove_on_begin,
                                                  .key = foxglove_on_key,
                                                  .end_map = foxglove_on_end,
                                                  .begin_list = foxglove_on_begin,
                                                  .end_list = foxglove_on_end,
                                                  .natural = foxglove_on_natural,
                                                  .real32 = on_value,
                                                  .text = foxglove_on_text,
                                                  .numbers = foxglove_on_numbers};

static void foxglove_put_field(struct grow *g, struct reel_bytes name, uint64_t offset) {
    fg_comma(g);
    fg_put(g, "{\"name\":");
    fg_text(g, name);
    fg_put(g, ",\"offset\":");
    fg_count(g, offset);
    fg_put(g, ",\"type\":7}");
}

/* A channel is included when it has a value for each point. */
static bool whole(const struct cloud *c, unsigned i) {
    return c->channels[i].count == c->points.size / 12 && c->channels[i].size > 0;
}

static void put_data(struct grow *g, const struct cloud *c) {
    struct grow data = {0};
    unsigned n_channels = c->n_channels < CLOUD_CHANNELS_MAX ? c->n_channels : CLOUD_CHANNELS_MAX;
    for (size_t i = 0; i < c->points.size / 12; i++) {
        grow_put(&data, c->points.data + 12 * i, 12);
        for (unsigned k = 0; k < n_channels; k++) {
            if (whole(c, k)) {
                grow_put(&data, c->values.data + c->channels[k].at + 4 * i, 4);
            }
        }
    }
    json_put_base64(g, bytes_of(data.data, data.size));
    g->failed |= data.failed;
    free(data.data);
}

static void put_cloud(struct grow *g, const struct cloud *c) {
    uint64_t stride = 12;
    fg_put(g, "{");
    fg_time(g, (int64_t)(c->sec * 1000000000 + c->nsec));
    fg_put(g, ",\"frame_id\":");
    fg_text(g, bytes_of(c->frame.data, c->frame.size));
    fg_pose(g, (struct view_vec){0, 0, 0}, VIEW_UPRIGHT);
    fg_put(g, ",\"fields\":[");
    for (unsigned k = 0; k < 3; k++) {
        foxglove_put_field(g, bytes_of("xyz" + k, 1), 4 * (uint64_t)k);
    }
    for (unsigned k = 0; k < c->n_channels && k < CLOUD_CHANNELS_MAX; k++) {
        if (whole(c, k)) {
            foxglove_put_field(g, bytes_of(c->channels[k].name, c->channels[k].size), stride);
            stride += 4;
        }
    }
    fg_put(g, "],\"point_stride\":");
    fg_count(g, stride);
    fg_put(g, ",\"data\":\"");
    put_data(g, c);
    fg_put(g, "\"}");
}

static bool foxglove_take(struct view_maker *m, const struct reel_channel *channel, const struct reel_message *message,
                          struct reel_bytes payload, struct reel_error *err) {
    const struct clouds *s = m->state;
    const struct cloud_topic *t = s->items;
    (void)message;
    while (t < s->items + s->count && t->channel != channel) {
        t++;
    }
    if (m->silent || t == s->items + s->count || !t->decoder) {
        return true;
    }
    struct cloud c = {.visitor = {.ops = &cloud_ops}};
    bool read, good = decode_try(t->decoder, payload, &c.visitor, &read, err);
    struct grow *g = good && read ? view_begin(m, t->topic) : NULL;
    if (g) {
        put_cloud(g, &c);
        good = view_end(m, err);
    }
    free(c.frame.data);
    free(c.points.data);
    free(c.values.data);
    return good;
}

const struct view_transform view_cloud = {
    .encoding = &reel_encoding_ros1,
    .role = foxglove_role,
    .state_size = sizeof(struct clouds),
    .open = foxglove_open_channel,
    .close = foxglove_close_state,
    .forget = foxglove_forget,
    .take = foxglove_take,
};
