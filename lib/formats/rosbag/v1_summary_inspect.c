/* Inspects records before the index of a 1.2 bag, and makes the channels of a summary. Records are read in file order,
 * so that channels get the same ids as in a scan. */
#include "base/bytes.h"
#include "formats/rosbag/v1_summary.h"

bool rosbag_v1_summary_record(struct rosbag_v1_summary *o, uint64_t at, struct rosbag_v1_record *r,
                              struct reel_error *err) {
    struct window *w = &o->bag.window;
    uint64_t held = w->offset;
    w->capacity = ROSBAG_V1_LOOK; /* what a long definition made it grow to is not read again and again */
    if (o->looks++ % 256 == 0 && !reel_scan_progress(o->bag.scan, at, o->bag.source->size, err)) {
        return false;
    }
    if (!rosbag_v1_record_read(w, at, r, err)) {
        return false;
    }
    uint64_t cost = w->offset == held ? 0 : r->head < ROSBAG_V1_LOOK ? ROSBAG_V1_LOOK : r->head;
    if (cost > o->look_left || (uint64_t)r->head + r->size > o->bag.index_pos - at) {
        return reel_fail(err, REEL_DAMAGED,
                         cost > o->look_left ? "its channels cannot be determined by reading 16 MiB of its records"
                                             : "the record at %llu reaches into the in-file index",
                         (ull)at);
    }
    o->look_left -= cost;
    return true;
}

bool rosbag_v1_summary_message(struct rosbag_v1_summary *o, uint64_t pos, struct rosbag_v1_record *r,
                               struct reel_error *err) {
    for (uint64_t at = pos; at < o->bag.index_pos; at += (uint64_t)r->head + r->size) {
        if (!rosbag_v1_summary_record(o, at, r, err)) {
            return false;
        }
        if (r->op != ROSBAG_V1_DEFINITION) {
            break;
        }
    }
    return rosbag_v1_is_message(r) ||
           reel_fail(err, REEL_DAMAGED, "there is no message at %llu, where the in-file index has one", (ull)pos);
}

/* Reads the definitions in [from, to); a message there is missing in the index. */
static bool take_between(struct rosbag_v1_summary *o, uint64_t from, uint64_t to, struct reel_error *err) {
    struct rosbag_v1_record r;
    if (from == to) {
        return true; /* and what lies before has not been taken */
    }
    for (uint64_t at = from > o->taken_to ? from : o->taken_to; at < to; at = r.at + r.head + r.size) {
        if (!rosbag_v1_summary_record(o, at, &r, err)) {
            return false;
        }
        if (r.op == ROSBAG_V1_MESSAGE || r.op == ROSBAG_V1_INDEX || (uint64_t)r.head + r.size > to - at) {
            return reel_fail(err, REEL_DAMAGED, "the in-file index lacks the record at %llu", (ull)at);
        }
        if (!rosbag_v1_take(&o->bag, &r, err)) {
            return false;
        }
    }
    o->taken_to = to > o->taken_to ? to : o->taken_to;
    return true;
}

/* Index of the first position that is not before `pos`. */
static size_t position_from(const struct rosbag_v1_summary *o, uint64_t pos) {
    size_t low = 0, high = o->n_positions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->positions[middle] < pos) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool rosbag_v1_summary_follow(struct rosbag_v1_summary *o, const struct rosbag_v1_record *r, struct reel_error *err) {
    uint64_t at = r->at + r->head + r->size;
    while (o->whole && at < o->bag.index_pos) {
        size_t i = position_from(o, at);
        struct rosbag_v1_record next;
        if (i < o->n_positions && o->positions[i] == at) {
            break;
        }
        if (!rosbag_v1_summary_record(o, at, &next, err)) {
            return false;
        }
        if (next.op == ROSBAG_V1_MESSAGE) {
            return reel_fail(err, REEL_DAMAGED, "the in-file index lacks the message at %llu", (ull)at);
        }
        at = next.at + next.head + next.size;
    }
    return true;
}

/* ---- channels ---- */

/* Where the message before `pos` ends; only a whole index shows it. */
static bool end_before(struct rosbag_v1_summary *o, uint64_t pos, uint64_t *end, struct reel_error *err) {
    size_t low = position_from(o, pos);
    struct rosbag_v1_record r;
    *end = low > 0 ? 0 : pos;
    if (low > 0 && rosbag_v1_summary_message(o, o->positions[low - 1], &r, err)) {
        *end = r.at + r.head + r.size;
    }
    return *end > 0;
}

/* Reads the definition that an entry does not point at, but which should precede its message. */
static bool find_definition(struct rosbag_v1_summary *o, const struct rosbag_v1_visit *v,
                            const struct rosbag_v1_fields *f, bool *defined, struct reel_error *err) {
    uint64_t end;
    if (!rosbag_v1_defined(&o->bag, f, defined, err)) {
        return false;
    }
    return *defined || !o->whole || (end_before(o, v->pos, &end, err) && take_between(o, end, v->pos, err));
}

static bool rosbag_visit(struct rosbag_v1_summary *o, const struct rosbag_v1_visit *v, struct reel_error *err) {
    const struct rosbag_v1_listed *t = &o->topics[v->topic];
    struct rosbag_v1_record r;
    bool defined;
    if (!rosbag_v1_summary_message(o, v->pos, &r, err)) {
        return false;
    }
    uint64_t at = r.at;
    if (!take_between(o, v->pos, at, err) || !rosbag_v1_summary_record(o, at, &r, err) ||
        !find_definition(o, v, &r.fields, &defined, err) || !rosbag_v1_summary_record(o, at, &r, err) ||
        !rosbag_v1_defined(&o->bag, &r.fields, &defined, err)) {
        return false;
    }
    if (!bytes_equal(r.fields.topic, t->name) || (r.fields.number.data && !defined)) {
        return reel_fail(err, REEL_DAMAGED,
                         "the message at %llu has another topic than the in-file index says, or no definition",
                         (ull)at);
    }
    uint32_t sec = load_u32le(r.fields.sec.data), nsec = load_u32le(r.fields.nsec.data);
    const struct rosbag_v1_channel *c = rosbag_v1_channel_of(&o->bag, &r.fields, at, err);
    const struct reel_channel_stats one = {
        .count = 1, .first_ns = rosbag_v1_time(sec, nsec), .last_ns = rosbag_v1_time(sec, nsec)};
    return c && reel_scan_count(o->bag.scan, c->model.id, t->each ? &one : &t->stats, err) &&
           rosbag_v1_summary_follow(o, &r, err);
}

bool rosbag_v1_summary_channels(struct rosbag_v1_summary *o, struct reel_error *err) {
    struct rosbag_v1 *bag = &o->bag;
    struct rosbag_v1_record last;
    if (!take_between(o, 0, o->n_visits > 0 ? o->visits[0].pos : bag->index_pos, err)) {
        return false;
    }
    for (size_t i = 0; i < o->n_visits; i++) {
        if (!rosbag_visit(o, &o->visits[i], err)) {
            return false;
        }
    }
    if (o->n_visits > 0 && (!rosbag_v1_summary_message(o, o->last_pos, &last, err) ||
                            !take_between(o, last.at + last.head + last.size, bag->index_pos, err))) {
        return false;
    }
    if (!rosbag_v1_finish_channels(bag, err)) {
        return false;
    }
    for (const struct rosbag_v1_channel *c = bag->channels; c; c = c->next) {
        if (!c->wrapped && !c->connection->defined && c->schema.data.size == 0) {
            return reel_fail(err, REEL_DAMAGED, "topic %s: its definition is not where the in-file index leads",
                             c->model.name);
        }
    }
    return true;
}
