/* The demonstration bag: 20 s of a robot that drives in a circle through a room of 10 x 6 m, as a ROS bag 1.2 with its
 * index. Written independently of the bag writer, so that it can test it. emit() runs twice: first to compute offsets,
 * then to write the bytes. */
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/sink.h"
#include "recordings/demo.h"

enum {
    TICKS = 200,
    BEAMS = 181,
    START_S = 1273579200,
    TICK_NS = 100000000,
    HEADER_ROOM = 4096
}; /* 2010-05-11T12:00:00Z, 10 Hz */
enum { OP_DEFINITION = 1, OP_MESSAGE = 2, OP_FILE_HEADER = 3, OP_INDEX = 4 };
enum topic { ODOM, ROSOUT, SCAN, TOPICS };

#define RULE "================================================================================\n"
#define HEADER_DEFINITION RULE "MSG: roslib/Header\nuint32 seq\ntime stamp\nstring frame_id\n"

static const struct {
    const char *name, *type, *md5, *definition;
} topics[TOPICS] = {
    [ODOM] = {"/odom", "nav_msgs/Odometry", "cd5e73d190d741a2f92e81eda573aca7",
              "Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance "
              "pose\ngeometry_msgs/TwistWithCovariance "
              "twist\n\n" HEADER_DEFINITION "\n" RULE
              "MSG: geometry_msgs/PoseWithCovariance\nPose pose\nfloat64[36] covariance\n"
              "\n" RULE "MSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n"
              "\n" RULE "MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n"
              "\n" RULE "MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
              "\n" RULE "MSG: geometry_msgs/TwistWithCovariance\nTwist twist\nfloat64[36] covariance\n"
              "\n" RULE "MSG: geometry_msgs/Twist\nVector3 linear\nVector3 angular\n"
              "\n" RULE "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"},
    [ROSOUT] = {"/rosout", "roslib/Log", "acffd30cd6b6de30f120938c17c593fb",
                "byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\nHeader header\nbyte "
                "level\nstring name\nstring "
                "msg\nstring file\n"
                "string function\nuint32 line\nstring[] topics\n\n" HEADER_DEFINITION},
    [SCAN] = {"/scan", "sensor_msgs/LaserScan", "90c7ef2dc6895d81024acba2ac42f369",
              "Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 "
              "time_increment\nfloat32 scan_time\n"
              "float32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] intensities\n\n" HEADER_DEFINITION},
};

struct moment { /* one message and its index entry */
    enum topic topic;
    uint32_t tick, sec, nsec;
    double x, y, heading;
};
struct entry {
    uint32_t sec, nsec;
    uint64_t pos;
};
struct bag {
    struct entry entries[TOPICS][TICKS];
    uint32_t counts[TOPICS];
    uint64_t index_pos; /* from the first run, for the second */
};

/* ---- values */

static void put_f32(struct reel_sink *out, double value) {
    reel_sink_u32le(out, f32_bits((float)value));
}
static void put_f64(struct reel_sink *out, double value) {
    reel_sink_u64le(out, f64_bits(value));
}
static void demo_bag_put_text(struct reel_sink *out, const char *text) {
    reel_sink_string32(out, bytes_text(text));
}

/* u32 length, then what `put` puts. */
static void put_sized(struct reel_sink *out, void (*put)(struct reel_sink *out, const void *context),
                      const void *context) {
    struct reel_sink count = {0};
    put(&count, context);
    reel_sink_u32le(out, (uint32_t)count.pos);
    put(out, context);
}

static void demo_bag_put_field(struct reel_sink *out, const char *name, struct reel_bytes value) {
    reel_sink_u32le(out, (uint32_t)(strlen(name) + 1 + value.size));
    reel_sink_put_bytes(out, bytes_text(name));
    reel_sink_u8(out, '=');
    reel_sink_put_bytes(out, value);
}
static void put_u32_field(struct reel_sink *out, const char *name, uint32_t value) {
    uint8_t b[4];
    store_u32le(b, value);
    demo_bag_put_field(out, name, bytes_of(b, sizeof b));
}
static void put_op(struct reel_sink *out, uint8_t op) {
    demo_bag_put_field(out, "op", bytes_of(&op, 1));
}

/* ---- payloads */

static void demo_bag_put_header(struct reel_sink *out, const struct moment *m, const char *frame_id) {
    reel_sink_u32le(out, m->tick);
    reel_sink_u32le(out, m->sec);
    reel_sink_u32le(out, m->nsec);
    demo_bag_put_text(out, frame_id);
}

/* How far the wall is from (x, y) in direction a. */
static double distance_to_wall(double x, double y, double a) {
    double c = cos(a), s = sin(a);
    double along_x = c > 1e-9 ? (5 - x) / c : c < -1e-9 ? (-5 - x) / c : 100;
    double along_y = s > 1e-9 ? (3 - y) / s : s < -1e-9 ? (-3 - y) / s : 100;
    return fmin(along_x, along_y);
}

static void put_scan(struct reel_sink *out, const struct moment *m) {
    const double step = M_PI / (BEAMS - 1);
    demo_bag_put_header(out, m, "laser");
    put_f32(out, -M_PI / 2);
    put_f32(out, M_PI / 2);
    put_f32(out, step);
    put_f32(out, 0);
    put_f32(out, TICK_NS / 1e9);
    put_f32(out, 0.05);
    put_f32(out, 30);
    reel_sink_u32le(out, BEAMS);
    for (unsigned i = 0; i < BEAMS; i++) {
        put_f32(out, distance_to_wall(m->x, m->y, m->heading - M_PI / 2 + i * step));
    }
    reel_sink_u32le(out, 0); /* no intensities */
}

static void put_covariance(struct reel_sink *out, double value) {
    for (unsigned i = 0; i < 36; i++) {
        put_f64(out, i % 7 == 0 ? value : 0);
    }
}

static void put_odom(struct reel_sink *out, const struct moment *m) {
    const double pose[] = {m->x, m->y, 0, 0, 0, sin(m->heading / 2), cos(m->heading / 2)},
                 twist[] = {0.6, 0, 0, 0, 0, M_PI / 10};
    demo_bag_put_header(out, m, "odom");
    demo_bag_put_text(out, "base_link");
    for (unsigned i = 0; i < sizeof pose / sizeof *pose; i++) {
        put_f64(out, pose[i]);
    }
    put_covariance(out, 0.01);
    for (unsigned i = 0; i < sizeof twist / sizeof *twist; i++) {
        put_f64(out, twist[i]);
    }
    put_covariance(out, 0.001);
}

static void put_log(struct reel_sink *out, const struct moment *m) {
    char text[64];
    snprintf(text, sizeof text, "lap %u: %u %% done", m->tick / TICKS + 1, m->tick * 100 / TICKS);
    demo_bag_put_header(out, m, "");
    reel_sink_u8(out, 2); /* INFO */
    demo_bag_put_text(out, "/driver");
    demo_bag_put_text(out, text);
    demo_bag_put_text(out, "driver.cpp");
    demo_bag_put_text(out, "drive");
    reel_sink_u32le(out, 42);
    reel_sink_u32le(out, 1);
    demo_bag_put_text(out, "/odom");
}

static void demo_bag_put_payload(struct reel_sink *out, const void *context) {
    static void (*const put[])(struct reel_sink * out,
                               const struct moment *m) = {[ODOM] = put_odom, [ROSOUT] = put_log, [SCAN] = put_scan};
    const struct moment *m = context;
    put[m->topic](out, m);
}

/* ---- records */

static void put_definition_header(struct reel_sink *out, const void *context) {
    enum topic t = ((const struct moment *)context)->topic;
    demo_bag_put_field(out, "def", bytes_text(topics[t].definition));
    demo_bag_put_field(out, "md5", bytes_text(topics[t].md5));
    put_op(out, OP_DEFINITION);
    demo_bag_put_field(out, "topic", bytes_text(topics[t].name));
    demo_bag_put_field(out, "type", bytes_text(topics[t].type));
}

static void put_message_header(struct reel_sink *out, const void *context) {
    const struct moment *m = context;
    if (m->topic == ROSOUT) {
        demo_bag_put_field(out, "callerid", bytes_text("/driver"));
        demo_bag_put_field(out, "latching", bytes_text("1"));
    }
    demo_bag_put_field(out, "md5", bytes_text(topics[m->topic].md5));
    put_u32_field(out, "nsec", m->nsec);
    put_op(out, OP_MESSAGE);
    put_u32_field(out, "sec", m->sec);
    demo_bag_put_field(out, "topic", bytes_text(topics[m->topic].name));
    demo_bag_put_field(out, "type", bytes_text(topics[m->topic].type));
}

static void demo_bag_put_message(struct reel_sink *out, struct bag *bag, const struct moment *m) {
    uint32_t n = bag->counts[m->topic]++;
    bag->entries[m->topic][n] = (struct entry){.sec = m->sec, .nsec = m->nsec, .pos = out->pos};
    if (n == 0) { /* a topic's first entry points at the definition before its first message */
        put_sized(out, put_definition_header, m);
        reel_sink_u32le(out, 0);
    }
    put_sized(out, put_message_header, m);
    put_sized(out, demo_bag_put_payload, m);
}

static void put_file_header_fields(struct reel_sink *out, const void *context) {
    uint8_t pos[8];
    store_u64le(pos, ((const struct bag *)context)->index_pos);
    demo_bag_put_field(out, "index_pos", bytes_of(pos, sizeof pos));
    put_op(out, OP_FILE_HEADER);
}

static void put_file_header(struct reel_sink *out, const struct bag *bag) {
    uint64_t start = out->pos + 4;
    put_sized(out, put_file_header_fields, bag);
    uint32_t room = HEADER_ROOM - (uint32_t)(out->pos - start);
    reel_sink_u32le(out, room);
    reel_sink_fill(out, ' ', room);
}

struct index_of {
    const struct bag *bag;
    enum topic topic;
};
static void put_index_header(struct reel_sink *out, const void *context) {
    const struct index_of *i = context;
    put_u32_field(out, "count", i->bag->counts[i->topic]);
    put_op(out, OP_INDEX);
    demo_bag_put_field(out, "topic", bytes_text(topics[i->topic].name));
    demo_bag_put_field(out, "type", bytes_text(topics[i->topic].type));
    put_u32_field(out, "ver", 0);
}
static void put_index_entries(struct reel_sink *out, const void *context) {
    const struct index_of *i = context;
    for (uint32_t n = 0; n < i->bag->counts[i->topic]; n++) {
        const struct entry *e = &i->bag->entries[i->topic][n];
        reel_sink_u32le(out, e->sec);
        reel_sink_u32le(out, e->nsec);
        reel_sink_u64le(out, e->pos);
    }
}

static struct moment moment_of(enum topic topic, uint32_t tick, uint32_t delay_ns) {
    uint64_t ns = (uint64_t)tick * TICK_NS + delay_ns;
    double turn = 2 * M_PI * tick / TICKS;
    return (struct moment){
        .topic = topic,
        .tick = tick,
        .sec = (uint32_t)(START_S + ns / 1000000000),
        .nsec = (uint32_t)(ns % 1000000000),
        .x = 2 * cos(turn),
        .y = 2 * sin(turn),
        .heading = turn + M_PI / 2,
    };
}

static void emit(struct reel_sink *out, struct bag *bag) {
    memset(bag->counts, 0, sizeof bag->counts);
    reel_sink_put_bytes(out, bytes_text("#ROSRECORD V1.2\n"));
    put_file_header(out, bag);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        const struct moment scan = moment_of(SCAN, tick, 0), odom = moment_of(ODOM, tick, 3000000),
                            log = moment_of(ROSOUT, tick, 5000000);
        demo_bag_put_message(out, bag, &scan);
        demo_bag_put_message(out, bag, &odom);
        if (tick % 10 == 0) {
            demo_bag_put_message(out, bag, &log);
        }
    }
    bag->index_pos = out->pos;
    for (enum topic t = 0; t < TOPICS; t++) {
        const struct index_of index = {.bag = bag, .topic = t};
        put_sized(out, put_index_header, &index);
        put_sized(out, put_index_entries, &index);
    }
}

bool demo_bag(uint8_t **data, size_t *size, struct reel_error *err) {
    AUTO_MEM struct bag *bag = calloc(1, sizeof *bag);
    if (!bag) {
        return reel_fail_memory(err);
    }
    struct reel_sink count = {0};
    emit(&count, bag);
    AUTO_MEM uint8_t *bytes = malloc(count.pos);
    if (!bytes) {
        return reel_fail_memory(err);
    }
    struct reel_sink out = {.hi = count.pos, .buffer = bytes};
    emit(&out, bag);
    *data = TAKE(bytes);
    *size = count.pos;
    return true;
}
