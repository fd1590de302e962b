/* Texts and parameters as messages of ROS 1, which viewers read: rosgraph_msgs/Log, and a name with its value. They are
 * made from the bytes of the file whenever they are read. */
#include "formats/ulog/container.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/shortest_number.h"

#include <stdio.h>

const char ulog_text_definition[] =
    "byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\nHeader header\nbyte level\nstring name\n"
    "string msg\nstring file\nstring function\nuint32 line\nstring[] topics\n"
    "================================================================================\n"
    "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
const char ulog_parameter_definition[] = "string name\nfloat64 value\n";

static void put_string(struct grow *out, struct reel_bytes text) {
    grow_u32(out, (uint32_t)text.size);
    grow_put(out, text.data, text.size);
}

/* The time is since boot, as in other messages. */
static void put_header(struct grow *out, uint64_t time_us) {
    uint64_t seconds = time_us / 1000000;
    grow_u32(out, 0);
    grow_u32(out, seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX);
    grow_u32(out, (uint32_t)(time_us % 1000000) * 1000);
    grow_u32(out, 0);
}

static void make_text(struct reel_bytes data, bool tagged, struct grow *out) {
    static const struct {
        const char *name;
        uint8_t ros;
    } levels[] = {{"EMERG", 16},  {"ALERT", 16}, {"CRIT", 16}, {"ERR", 8},
                  {"WARNING", 4}, {"NOTICE", 2}, {"INFO", 2},  {"DEBUG", 1}};
    struct cursor c = cursor_of(data);
    uint8_t level = cursor_u8(&c) & 7;
    char tag[16] = "";
    if (tagged) {
        snprintf(tag, sizeof tag, "tag %u", cursor_u16le(&c));
    }
    put_header(out, cursor_u64le(&c));
    grow_u8(out, levels[level].ros);
    put_string(out, bytes_text(tag));
    put_string(out, bytes_of(c.at, cursor_left(&c)));
    put_string(out, bytes_text(""));
    put_string(out, bytes_text(levels[level].name));
    grow_u32(out, 0);
    grow_u32(out, 0);
}

/* A float as the double that its shortest decimal names: 0.1, not 0.10000000149. */
static double parameter_value(struct reel_bytes type, struct reel_bytes value) {
    char text[SHORTEST_ROOM];
    if (!bytes_is(type, "float")) {
        return (int32_t)load_u32le(value.data);
    }
    float v = load_f32le(value.data);
    return v - v == 0 ? shortest_read(text, shortest_float(v, text)) : (double)v;
}

static void make_parameter(struct reel_bytes data, struct grow *out) {
    struct ulog_field key;
    struct reel_bytes value;
    double number = 0;
    uint64_t bits;
    if (!ulog_fact_read(data, &key, &value) || value.size != 4) {
        key.name = bytes_text("");
    } else {
        number = parameter_value(key.type, value);
    }
    memcpy(&bits, &number, sizeof bits);
    put_string(out, key.name);
    grow_u64(out, bits);
}

void ulog_row_make(uint8_t type, struct reel_bytes data, struct grow *out) {
    out->size = 0;
    if (type == 'P') {
        make_parameter(data, out);
    } else {
        make_text(data, type == 'C', out);
    }
}

/* ---- the source */

struct rows {
    struct reel_source source;
    struct reel_source *base;
};

static bool rows_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct reel_source *base = ((struct rows *)source)->base;
    uint64_t at = offset >> ULOG_ROW_BITS, skip = offset & ((1u << ULOG_ROW_BITS) - 1);
    uint8_t head[ULOG_HEAD];
    struct grow row = {0};
    if (!reel_source_read(base, at, head, sizeof head, err)) {
        return false;
    }
    size_t stored = load_u16le(head);
    AUTO_MEM uint8_t *data = malloc(stored + 1);
    if (!data) {
        return reel_fail_memory(err);
    }
    if (!reel_source_read(base, at + ULOG_HEAD, data, stored, err)) {
        return false;
    }
    ulog_row_make(head[2], bytes_of(data, stored), &row);
    bool good = !row.failed && skip <= row.size && size <= row.size - skip;
    if (good && size > 0) {
        memcpy(buffer, row.data + skip, size);
    }
    bool failed = row.failed;
    free(row.data);
    return good || (failed ? reel_fail_memory(err)
                           : reel_fail(err, REEL_CHANGED, "%s: the message at %llu is another now", base->name,
                                       (unsigned long long)at));
}

static void rows_free(struct reel_source *source) {
    free(source);
}

struct reel_source *ulog_open_rows(struct reel_source *base, bool damaged, struct reel_error *err) {
    static const struct reel_source_ops ops = {.read = rows_read, .free = rows_free};
    (void)damaged;
    struct rows *rows = calloc(1, sizeof *rows);
    if (!rows) {
        reel_fail_memory(err);
        return NULL;
    }
    rows->source = (struct reel_source){.ops = &ops, .size = UINT64_MAX, .name = base->name, .sparse = true};
    rows->base = base;
    return &rows->source;
}
