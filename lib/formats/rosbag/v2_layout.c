/* Single records of a ROS bag 2.0. */
#include "formats/rosbag/v2_layout.h"
#include "base/bytes.h"

enum { ROWS_WINDOW = 64 << 10 };

static bool fields_read(struct reel_bytes header, struct rosbag_v2_fields *f) {
#define FIELD(x) ROSRECORD_NAME(struct rosbag_v2_fields, x)
    static const struct rosrecord_name known[] = {
        FIELD(op),          FIELD(conn),      FIELD(time),       FIELD(topic),     FIELD(compression),
        FIELD(size),        FIELD(ver),       FIELD(count),      FIELD(index_pos), FIELD(conn_count),
        FIELD(chunk_count), FIELD(chunk_pos), FIELD(start_time), FIELD(end_time),  FIELD(encryptor),
    };
#undef FIELD
    *f = (struct rosbag_v2_fields){.all = header};
    struct cursor c = cursor_of(header);
    struct reel_bytes name, value;
    while (rosrecord_field(&c, &name, &value)) {
        if (!rosrecord_keep(known, sizeof known / sizeof *known, f, name, value)) {
            f->unknown++;
            f->unknown_name = name;
            f->odd |= !rosrecord_printable(name);
        }
    }
    return !c.failed;
}

bool rosbag_v2_record_read(struct window *window, uint64_t at, const struct rosrecord_bounds *bounds,
                           struct rosbag_v2_record *record, struct reel_error *err) {
    struct rosrecord r;
    bool good = rosrecord_head(window, at, bounds, &r, err);
    *record = (struct rosbag_v2_record){.at = at, .head = r.head, .size = r.size, .cut = r.cut};
    if (!good) {
        return false;
    }
    struct rosbag_v2_fields *f = &record->fields;
    if (!fields_read(r.header, f) || f->op.size != 1) {
        return reel_fail(err, REEL_DAMAGED, "record at %llu: its header is not a list of fields with an op",
                         (unsigned long long)at);
    }
    record->op = f->op.data[0];
    if (record->op == ROSBAG_V2_INDEX && f->count.size == 4 && rosbag_v2_u32(f->ver, 0) == ROSBAG_V2_VERSION_1) {
        uint64_t size = (uint64_t)load_u32le(f->count.data) * ROSBAG_V2_INDEX_ENTRY; /* recorders of early 2010 wrote a
                                                                                        different data length */
        if (size <= bounds->end - at - r.head) {
            return true; /* rosbag_v2_index_record() determines which one */
        }
    }
    good = rosrecord_fits(&r, bounds, err);
    record->cut = r.cut;
    return good;
}

bool rosbag_v2_is_record(const struct rosbag_v2_record *r) {
    const struct rosbag_v2_fields *f = &r->fields;
    if (f->odd) {
        return false;
    }
    switch (r->op) {
    case ROSBAG_V2_MESSAGE:
        return f->conn.size == 4 && f->time.size == 8;
    case ROSBAG_V2_INDEX:
        return f->conn.size == 4 && f->count.size == 4 && f->ver.size == 4;
    case ROSBAG_V2_CHUNK:
        return f->compression.size > 0 && f->size.size == 4;
    case ROSBAG_V2_CHUNK_INFO:
        return f->chunk_pos.size == 8 && f->count.size == 4;
    case ROSBAG_V2_CONNECTION:
        return f->conn.size == 4 && f->topic.data;
    default:
        return false;
    }
}

bool rosbag_v2_info_row(struct window *window, const struct rosbag_v2_record *r, uint32_t i, struct rosbag_v2_row *row,
                        struct reel_error *err) {
    const uint8_t *p = window_at(window, r->at + r->head + (uint64_t)i * ROSBAG_V2_INFO_ROW, ROSBAG_V2_INFO_ROW, err);
    *row = (struct rosbag_v2_row){.conn = p ? load_u32le(p) : 0, .messages = p ? load_u32le(p + 4) : 0};
    return p != NULL;
}

bool rosbag_v2_info_read(struct window *window, const struct rosbag_v2_record *r, struct rosbag_v2_info *info,
                         struct reel_error *err) {
    const struct rosbag_v2_fields *f = &r->fields;
    uint32_t count = rosbag_v2_u32(f->count, 0), rows = r->size / ROSBAG_V2_INFO_ROW;
    *info = (struct rosbag_v2_info){.chunk_pos = f->chunk_pos.size == 8 ? load_u64le(f->chunk_pos.data) : 0,
                                    .start = f->start_time.size == 8 ? rosbag_v2_stamp(f->start_time.data) : 0,
                                    .end = f->end_time.size == 8 ? rosbag_v2_stamp(f->end_time.data) : 0,
                                    .rows = count < rows ? count : rows};
    size_t all = (size_t)info->rows * ROSBAG_V2_INFO_ROW;
    if (all <= ROWS_WINDOW && !window_at(window, r->at + r->head, all, err)) { /* already in the window: reading them
                                                                                  again is cheap */
        return false;
    }
    for (uint32_t i = 0; i < info->rows; i++) {
        struct rosbag_v2_row row;
        if (!rosbag_v2_info_row(window, r, i, &row, err)) {
            return false;
        }
        if (row.messages > 0) {
            info->messages += row.messages;
            info->sum += rosbag_v2_row_hash(row.conn, row.messages);
            info->connections++;
        }
    }
    return true;
}
