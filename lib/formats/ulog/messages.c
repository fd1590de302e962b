/* What each message adds to the recording. */
#include "formats/ulog/container.h"

#include "base/bytes.h"
#include "base/cursor.h"

#include <stdio.h>

#define NEAR_US (10 * UINT64_C(1000000))
#define DAY_US (86400 * UINT64_C(1000000))
#define TIME_MAX_US UINT64_C(5000000000000000) /* nanoseconds since 1970 still fit when the time of day is added */
#define UTC_MIN_US UINT64_C(1234567890000000)  /* 2009: PX4 takes earlier times for wrong, too */
#define UTC_MAX_US UINT64_C(4102444800000000)  /* 2100 */

/* ---- times */

static bool is_near(uint64_t a, uint64_t b) {
    return (a > b ? a - b : b - a) <= NEAR_US;
}

/* A time that is far from the one before may be damaged. The next one shows whether it is: until then others do not
 * follow it, and if it is days later, it is not used. */
static int64_t believe(struct ulog *u, uint64_t us, uint64_t at) {
    bool near = !u->has_time || is_near(us, u->recent_us), agrees = u->far_us > 0 && is_near(us, u->far_us);
    bool good = us <= TIME_MAX_US && (near || agrees || us <= u->recent_us + DAY_US);
    if (!good) {
        ulog_count(&u->odd_times, at);
    }
    if (us <= TIME_MAX_US && (near || agrees)) {
        u->recent_us = us;
        u->has_time = true;
    } else {
        u->far_us = us <= TIME_MAX_US ? us : 0;
    }
    return (u->has_utc ? u->utc_ns : 0) + (int64_t)(good ? us : u->recent_us) * 1000;
}

static int64_t now(const struct ulog *u) {
    return (u->has_utc ? u->utc_ns : 0) + (int64_t)u->recent_us * 1000;
}

/* ---- channels */

static bool add_channel(struct ulog *u, const char *name, const char *type, const char *definition, uint32_t *channel,
                        struct reel_error *err) {
    struct reel_schema schema = {.name = type, .encoding = "ros1msg", .hash = "", .data = bytes_text(definition)};
    const struct reel_channel c = {.name = name, .type = type, .encoding = "ros1", .schemas = &schema, .n_schemas = 1};
    uint32_t id;
    if (!reel_scan_channel(u->scan, &c, &id, err)) {
        return false;
    }
    *channel = id + 1;
    return true;
}

static bool describe_topic(struct ulog *u, struct reel_bytes name, uint8_t instance, struct ulog_format *f,
                           uint32_t *id, struct reel_error *err) {
    char topic[300], number[8];
    struct grow type = {0}, definition = {0};
    snprintf(number, sizeof number, "%u", instance);
    snprintf(topic, sizeof topic, instance > 0 ? "/%.*s/%s" : "/%.*s", (int)name.size, (const char *)name.data, number);
    ulog_ros_name(name, &type);
    grow_u8(&type, '\0');
    bool good = !type.failed && (!f || ulog_definition(u, f, &definition));
    struct reel_schema schema = {.name = (const char *)type.data,
                                 .encoding = "ros1msg",
                                 .hash = "",
                                 .data = bytes_of(definition.data, definition.size)};
    struct reel_pair pair = {"multi_id", number};
    const struct reel_channel c = {.name = topic,
                                   .type = schema.name,
                                   .encoding = ULOG_ENCODING,
                                   .schemas = &schema,
                                   .n_schemas = f != NULL,
                                   .metadata = {&pair, 1}};
    good = good ? reel_scan_channel(u->scan, &c, id, err) : reel_fail_memory(err);
    free(type.data);
    free(definition.data);
    return good;
}

static void report_format(struct ulog *u, uint64_t at, struct reel_bytes name, const struct ulog_format *f) {
    if (!f || f->state != ULOG_GOOD) {
        reel_scan_finding(u->scan, REEL_WARNING, 0, at, 0,
                          "%.*s has no format that can be read (%s): its messages are bytes", (int)name.size,
                          (const char *)name.data, f ? f->why : "there is none");
    }
}

static bool add_topic(struct ulog *u, const struct ulog_message *m, struct hash_key key, uintptr_t *topic,
                      struct reel_error *err) {
    struct ulog_format *f = ulog_format_find(u, key.bytes);
    struct ulog_topic new = {.format = f};
    const uint8_t *name = arena_copy(&u->arena, key.bytes.data, key.bytes.size);
    if (!name || !GROW_ARRAY(u->topics, u->n_topics, u->cap_topics)) {
        return name ? reel_fail_memory(err) : arena_fail(&u->arena, err);
    }
    key.bytes.data = name;
    bool good = f && ulog_format_resolve(u, f);
    if (!u->looking) {
        report_format(u, m->at, key.bytes, f);
        if (!describe_topic(u, key.bytes, (uint8_t)key.number, good ? f : NULL, &new.channel, err)) {
            return false;
        }
    }
    u->topics[u->n_topics++] = new;
    *topic = u->n_topics;
    return hash_table_set(&u->topic_names, key, u->n_topics, err);
}

static bool set_id(struct ulog *u, uint16_t id, uint32_t topic, struct reel_error *err) {
    size_t n = id < u->n_ids ? u->n_ids : id < 256 ? 256 : UINT16_MAX + 1;
    uint32_t *ids = n > u->n_ids ? realloc(u->ids, n * sizeof *ids) : u->ids;
    if (!ids) {
        return reel_fail_memory(err);
    }
    memset(ids + u->n_ids, 0, (n - u->n_ids) * sizeof *ids);
    u->ids = ids;
    u->n_ids = n;
    u->ids[id] = topic;
    return true;
}

static bool subscribe(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    struct cursor c = cursor_of(m->data);
    uint8_t instance = cursor_u8(&c);
    uint16_t id = cursor_u16le(&c);
    struct hash_key key = {.number = instance, .bytes = bytes_of(c.at, cursor_left(&c))};
    uintptr_t topic = hash_table_get(&u->topic_names, key);
    if (topic == 0 && u->n_topics < REEL_CHANNELS_MAX - 3 && !add_topic(u, m, key, &topic, err)) {
        return false;
    }
    return set_id(u, id, (uint32_t)topic, err);
}

/* ---- messages */

static bool add_entry(struct ulog *u, const struct reel_entry *entry, struct reel_error *err) {
    u->messages++;
    return reel_scan_entry(u->scan, entry, err);
}

/* GPS receivers know the time of day. */
static void look_for_utc(struct ulog *u, const struct ulog_format *f, struct reel_bytes data) {
    if (f->utc < 0 || f->time < 0 || u->has_utc) {
        return;
    }
    uint64_t utc = load_u64le(data.data + f->utc), time = load_u64le(data.data + f->time);
    if (utc >= UTC_MIN_US && utc <= UTC_MAX_US && time <= utc) {
        u->has_utc = true;
        u->utc_ns = (int64_t)(utc - time) * 1000;
    }
}

static bool take_data(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    uint32_t topic = ulog_topic_of(u, load_u16le(m->data.data));
    const struct ulog_topic *t = &u->topics[topic - 1];
    const struct ulog_format *f = t->format && t->format->state == ULOG_GOOD ? t->format : NULL;
    struct reel_bytes data = bytes_of(m->data.data + 2, m->data.size - 2);
    if (u->looking) {
        if (f) {
            look_for_utc(u, f, data);
        }
        return true;
    }
    if (!f || f->time < 0) {
        ulog_count(&u->no_time, m->at);
    }
    const struct reel_entry entry = {
        .time_ns = f && f->time >= 0 ? believe(u, load_u64le(data.data + f->time), m->at) : now(u),
        .offset = m->at,
        .channel = t->channel,
        .head = ULOG_DATA_HEAD,
        .size = f ? f->shorter : (uint32_t)data.size,
    };
    return add_entry(u, &entry, err);
}

/* L, C and P: *channel is made with the first one. */
static bool take_row(struct ulog *u, const struct ulog_message *m, int64_t time_ns, uint32_t *channel,
                     struct reel_error *err) {
    struct grow row = {0};
    ulog_row_make(m->type, m->data, &row);
    size_t size = row.size;
    bool good = !row.failed;
    free(row.data);
    if (!good) {
        return reel_fail_memory(err);
    }
    bool text = m->type != 'P';
    const struct reel_chunk rows = {.codec = REEL_CODEC_ROWS, .stored = u->source->size, .raw = UINT64_MAX};
    if ((u->rows == 0 && !reel_scan_chunk(u->scan, &rows, &u->rows, err)) ||
        (*channel == 0 &&
         !add_channel(u, text ? "/log_message" : "/parameters", text ? "rosgraph_msgs/Log" : "ulog/parameter",
                      text ? ulog_text_definition : ulog_parameter_definition, channel, err))) {
        return false;
    }
    const struct reel_entry entry = {.time_ns = time_ns,
                                     .offset = m->at << ULOG_ROW_BITS,
                                     .chunk = u->rows,
                                     .channel = *channel - 1,
                                     .size = (uint32_t)size};
    return add_entry(u, &entry, err);
}

static bool take_text(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    const uint8_t *time = m->data.data + (m->type == 'C' ? 3 : 1);
    return u->looking || take_row(u, m, believe(u, load_u64le(time), m->at), &u->texts, err);
}

static bool take_dropout(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    if (u->looking) {
        return true;
    }
    if (u->dropouts == 0 && !add_channel(u, "/dropout", "ulog/dropout", "uint16 duration\n", &u->dropouts, err)) {
        return false;
    }
    ulog_count(&u->dropped, m->at);
    u->dropout_ms += load_u16le(m->data.data);
    const struct reel_entry entry = {
        .time_ns = now(u), .offset = m->at, .channel = u->dropouts - 1, .head = ULOG_HEAD, .size = 2};
    return add_entry(u, &entry, err);
}

static bool take_fact(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    if (u->looking) {
        return true;
    }
    return m->type == 'P' && u->in_data ? take_row(u, m, now(u), &u->parameters, err) : ulog_fact_add(u, m, err);
}

bool ulog_take(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    switch (m->type) {
    case 'F':
        return ulog_format_add(u, m, err);
    case 'I':
    case 'M':
    case 'P':
    case 'Q':
        return take_fact(u, m, err);
    case 'A':
        u->in_data = true;
        return subscribe(u, m, err);
    case 'D':
        return take_data(u, m, err);
    case 'L':
    case 'C':
        u->in_data = true;
        return take_text(u, m, err);
    case 'O':
        return take_dropout(u, m, err);
    default:
        return true; /* B, R, S */
    }
}
