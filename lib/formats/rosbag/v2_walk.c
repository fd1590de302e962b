/* Walks the records of the file, including plain chunks, and of the raw bytes of compressed chunks. The fast path
 * (walk_known) handles only messages whose header, except for connection and time, equals one that was parsed before.
 */
#include "base/bytes.h"
#include "formats/rosbag/v2.h"

#include <stdio.h>

/* ---- messages ---- */

static void touch(struct bag2 *bag, struct rosbag_v2_connection *c) {
    c->chunk_number = bag->chunk.number;
    c->in_chunk = c->in_index = c->sum = c->index_sum = 0;
    c->next_touched = bag->chunk.touched;
    bag->chunk.touched = c;
}

/* `entry` has offset, chunk, head and size; the payload begins with these bytes where the connection is wrapped and
 * that many are there. */
static inline bool rosbag_take(struct bag2 *bag, const struct rosbag_v2_run *run, struct rosbag_v2_connection *c,
                               struct reel_entry *entry, uint64_t stamp, const uint8_t *payload,
                               struct reel_error *err) {
    bag->messages++;
    bag->carried += (uint32_t)stamp >= ROSBAG_V2_NS_PER_SEC;
    struct rosbag_v2_chunk *chunk = &bag->chunk;
    if (c->chunk_number != chunk->number) {
        touch(bag, c);
    }
    c->messages++;
    c->in_chunk++;
    c->sum += rosbag_v2_entry_hash(stamp, entry->offset - run->base);
    chunk->first = chunk->messages == 0 || stamp < chunk->first ? stamp : chunk->first;
    chunk->last = chunk->messages == 0 || stamp > chunk->last ? stamp : chunk->last;
    chunk->messages++;
    if (c->wrapped) {
        if (entry->size >= ROS_WRAP_HEAD && ros_wrap_fits(payload, entry->size)) {
            entry->head += ROS_WRAP_HEAD;
            entry->size -= ROS_WRAP_HEAD;
        } else if (bag->unwrapped++ == 0) {
            bag->unwrapped_at = rosbag_v2_position(bag, run, entry->offset);
        }
    }
    entry->time_ns = rosbag_v2_stamp_ns(stamp);
    entry->channel = c->model.id;
    return reel_scan_entry(bag->scan, entry, err);
}

static bool rosbag_v2_walk_take_message(struct bag2 *bag, struct rosbag_v2_run *run, const struct rosbag_v2_record *r,
                                        struct reel_error *err) {
    if (r->fields.conn.size != 4 || r->fields.time.size != 8) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, rosbag_v2_position(bag, run, r->at), (uint64_t)r->head + r->size,
                          "record at %llu: a message without a proper connection and time", (unsigned long long)r->at);
        bag->chunk.broken = true;
        return true;
    }
    uint64_t stamp = rosbag_v2_stamp(r->fields.time.data); /* before the window moves */
    struct rosbag_v2_connection *c = rosbag_v2_connection_of(bag, load_u32le(r->fields.conn.data), err);
    run->last = r->at + r->head;
    if (!c || (!c->has_channel && !rosbag_v2_channel_ready(bag, c, err))) {
        return false;
    }
    bag->recent[c->id % ROSBAG_V2_RECENT] = c;
    const uint8_t *payload = NULL;
    if (c->wrapped && r->size >= ROS_WRAP_HEAD &&
        !(payload = window_at(run->window, r->at + r->head, ROS_WRAP_HEAD, err))) {
        return false;
    }
    struct reel_entry entry = {.offset = r->at, .chunk = run->chunk, .head = r->head, .size = r->size};
    return rosbag_take(bag, run, c, &entry, stamp, payload, err);
}

/* ---- the hot path ---- */

static inline bool shape_fits(const struct rosbag_v2_shape *s, const uint8_t *p) {
    uint64_t differ = 0;
    for (unsigned i = 0; i < 5; i++) {
        differ |= (load_u64le(p + 8 * i) ^ s->bytes[i]) & s->mask[i];
    }
    differ |= (load_u64le(p + ROSBAG_V2_MESSAGE_HEAD - 12) ^ s->bytes[5]) & s->mask[5]; /* overlaps the one before */
    return differ == 0;
}

/* Remembers the layout of this message's header, if it has only connection, op and time. */
static void shape_remember(struct bag2 *bag, const struct rosbag_v2_record *r) {
    const struct rosbag_v2_fields *f = &r->fields;
    if (f->all.size != ROSBAG_V2_MESSAGE_FIELDS || f->unknown > 0 || f->conn.size != 4 || f->time.size != 8) {
        return;
    }
    const uint8_t *start = f->all.data - 4;
    uint8_t mask[ROSBAG_V2_MESSAGE_HEAD - 4];
    struct rosbag_v2_shape *s = &bag->shape;
    s->conn_at = (uint32_t)(f->conn.data - start);
    s->time_at = (uint32_t)(f->time.data - start);
    memset(mask, 0xff, sizeof mask);
    memset(mask + s->conn_at, 0, 4);
    memset(mask + s->time_at, 0, 8);
    for (unsigned i = 0; i < 6; i++) {
        unsigned at = i < 5 ? 8 * i : ROSBAG_V2_MESSAGE_HEAD - 12;
        s->bytes[i] = load_u64le(start + at);
        s->mask[i] = load_u64le(mask + at);
    }
    s->learnt = true;
}

static bool walk_known(struct bag2 *bag, struct rosbag_v2_run *run, struct reel_error *err) {
    const struct rosbag_v2_shape *shape = &bag->shape;
    uint64_t room = run->end - run->at;
    size_t left = window_held(run->window, run->at);
    left = left < room ? left : (size_t)room;
    const uint8_t *p = run->window->buffer + (left ? run->at - run->window->offset : 0);
    while (shape->learnt && left >= ROSBAG_V2_MESSAGE_HEAD && shape_fits(shape, p)) {
        uint32_t id = load_u32le(p + shape->conn_at), size = load_u32le(p + ROSBAG_V2_MESSAGE_HEAD - 4);
        struct rosbag_v2_connection *c = bag->recent[id % ROSBAG_V2_RECENT];
        if (!c || c->id != id || size > run->end - run->at - ROSBAG_V2_MESSAGE_HEAD ||
            (c->wrapped && left < ROSBAG_V2_MESSAGE_HEAD + ROS_WRAP_HEAD)) {
            return true; /* the parsing path knows more */
        }
        struct reel_entry entry = {
            .offset = run->at, .chunk = run->chunk, .head = ROSBAG_V2_MESSAGE_HEAD, .size = size};
        if (!rosbag_take(bag, run, c, &entry, rosbag_v2_stamp(p + shape->time_at), p + ROSBAG_V2_MESSAGE_HEAD, err)) {
            return false;
        }
        uint64_t step = ROSBAG_V2_MESSAGE_HEAD + (uint64_t)size;
        run->last = run->at + ROSBAG_V2_MESSAGE_HEAD;
        run->at += step;
        left = step < left ? left - (size_t)step : 0;
        p += left ? step : 0;
    }
    return true;
}

/* ---- one record, parsed ---- */

static void count_unknown_fields(struct bag2 *bag, const struct rosbag_v2_run *run, const struct rosbag_v2_record *r) {
    const struct rosbag_v2_fields *f = &r->fields;
    if (f->unknown == 0 || r->op == ROSBAG_V2_FILE_HEADER) {
        return;
    }
    if (bag->unknown_fields == 0) {
        bag->unknown_fields_at = rosbag_v2_position(bag, run, r->at);
        struct reel_bytes name = f->odd ? bytes_text("(unprintable)") : f->unknown_name;
        snprintf(bag->unknown_name, sizeof bag->unknown_name, "%.*s", (int)(name.size < 63 ? name.size : 63),
                 (const char *)name.data);
    }
    bag->unknown_fields += f->unknown;
}

/* Handles a record: those allowed in a chunk, and those outside of chunks. */
static bool rosbag_take_record(struct bag2 *bag, struct rosbag_v2_run *run, struct rosbag_v2_record *r,
                               struct reel_error *err) {
    bool inside = run != &bag->file || run->end != bag->source->size;
    bool stays = true; /* run->at is to be moved over the record */
    bool good = true;
    count_unknown_fields(bag, run, r);
    uint64_t next = r->at + r->head + r->size;
    if (!inside && bag->chunk.walked == 0 && r->op != ROSBAG_V2_MESSAGE && r->op != ROSBAG_V2_CONNECTION) {
        bag->chunk.walked = r->at;
    }
    if (r->op == ROSBAG_V2_MESSAGE) {
        shape_remember(bag, r);
        good = rosbag_v2_walk_take_message(bag, run, r, err);
    } else if (r->op == ROSBAG_V2_CONNECTION) {
        good = rosbag_v2_connection_record(bag, run->window, r, rosbag_v2_position(bag, run, r->at), err);
    } else if (!inside && r->op == ROSBAG_V2_CHUNK) {
        stays = false;
        good = rosbag_v2_chunk_open(bag, r, err);
    } else if (!inside && r->op == ROSBAG_V2_INDEX) {
        good = rosbag_v2_index_record(bag, r, err);
        next = r->at + r->head + r->size;
    } else if (!inside && r->op == ROSBAG_V2_CHUNK_INFO) {
        bag->tail_met = true; /* read by the tail */
    } else if (!inside && r->op == ROSBAG_V2_FILE_HEADER) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0, "another file header, at %llu, is not used",
                          (unsigned long long)r->at);
    } else if (bag->unknown_ops++ == 0) {
        bag->unknown_op = r->op;
        bag->unknown_ops_at = rosbag_v2_position(bag, run, r->at);
    }
    run->at = stays ? next : run->at;
    return good;
}

/* Handles a record that cannot be read whole. */
static bool take_damage(struct bag2 *bag, struct rosbag_v2_run *run, const struct rosbag_v2_record *r, const char *why,
                        struct reel_error *err) {
    if (run == &bag->file && run->end == bag->source->size && r->cut && r->op == ROSBAG_V2_CHUNK &&
        bytes_is(r->fields.compression, "none") && rosbag_v2_chunk_close(bag, err)) {
        rosbag_v2_chunk_cut(bag, r); /* its records are read as far as they go */
        return true;
    }
    return rosbag_v2_resume(bag, run, why, err);
}

bool rosbag_v2_walk(struct bag2 *bag, struct rosbag_v2_run *run, struct reel_error *err) {
    uint64_t size = run == &bag->file ? bag->source->size : run->end;
    while (run->at < size) {
        if (run->at == run->end) {
            run->end = size; /* a plain chunk is over */
        }
        if (!rosbag_v2_progress(bag, run, run->at, err) || !walk_known(bag, run, err)) {
            return false;
        }
        if (run->at == run->end) {
            continue;
        }
        bool of_file = run == &bag->file && run->end == size;
        if (of_file && run->at == bag->index_pos &&
            (!bag->chunk.open || bag->chunk.indexed || bag->chunk.walked == run->at)) {
            bag->tail_met = true; /* until another chunk shows that it is not */
        }
        const struct rosrecord_bounds bounds = {run->end, of_file ? "the file" : "its chunk"};
        struct rosbag_v2_record record;
        struct reel_error why = {0};
        if (rosbag_v2_record_read(run->window, run->at, &bounds, &record, &why)) {
            if (!rosbag_take_record(bag, run, &record, err)) {
                return false;
            }
        } else if (why.code != REEL_DAMAGED) {
            return reel_error_pass(err, &why);
        } else if (!take_damage(bag, run, &record, why.text, err)) {
            return false;
        }
    }
    return true;
}
