/* The summary of a 1.2 bag, from its index. It reads the file header, the index records at the end (of an index over 16
 * MiB only EDGE entries at both ends of each topic's), and up to 16 MiB of record headers before the index: each
 * topic's definition and first message, SAMPLE_MESSAGES of its messages, and all messages of a topic with several
 * publishers – the index counts by topic, but a channel also has a node (callerid). An inconsistent index gives no
 * summary. Messages between the sampled ones are assumed to be like them. */
#include "formats/rosbag/v1_summary.h"
#include "index/sample.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/order.h"

enum {
    INDEX_WHOLE_MAX = 16 << 20,
    INDEX_READ_MAX = 2 * INDEX_WHOLE_MAX, /* of a larger one, in its parts */
    EDGE = 256,                           /* entries */
    INDEX_WINDOW = 16 << 10,
};

struct entry {
    uint64_t pos;
    int64_t time;
};

static void summary_close(struct rosbag_v1_summary *o) {
    rosbag_v1_close(&o->bag);
    window_close(&o->index);
    free(o->topics);
    free(o->visits);
    free(o->positions);
}

/* ---- the index ---- */

static bool entry_at(struct rosbag_v1_summary *o, const struct rosbag_v1_listed *t, uint32_t i, struct entry *e,
                     struct reel_error *err) {
    uint64_t at = t->entries_at + (uint64_t)i * ROSBAG_V1_INDEX_ENTRY;
    const uint8_t *p = window_at(&o->index, at, ROSBAG_V1_INDEX_ENTRY, err);
    if (!p || (i % 65536 == 0 && !reel_scan_progress(o->bag.scan, at, o->bag.source->size, err))) {
        return false;
    }
    *e = (struct entry){.pos = load_u64le(p + 8), .time = rosbag_v1_time(load_u32le(p), load_u32le(p + 4))};
    return (e->pos >= o->taken_to && e->pos < o->bag.index_pos) ||
           reel_fail(err, REEL_DAMAGED, "the in-file index entry at %llu points to %llu, where no message can be",
                     (ull)at, (ull)e->pos);
}

static bool take_entries(struct rosbag_v1_summary *o, struct rosbag_v1_listed *t, uint32_t from, uint32_t to,
                         struct reel_error *err) {
    struct entry e;
    for (uint32_t i = from; i < to; i++) {
        if (!entry_at(o, t, i, &e, err)) {
            return false;
        }
        t->stats.first_ns = i == 0 || e.time < t->stats.first_ns ? e.time : t->stats.first_ns;
        t->stats.last_ns = i == 0 || e.time > t->stats.last_ns ? e.time : t->stats.last_ns;
        t->first_pos = i == 0 || e.pos < t->first_pos ? e.pos : t->first_pos;
        o->last_pos = e.pos > o->last_pos ? e.pos : o->last_pos;
        if (o->whole) {
            o->positions[o->n_positions++] = e.pos;
        }
    }
    return true;
}

static bool take_topic(struct rosbag_v1_summary *o, const struct rosbag_v1_record *r, struct reel_error *err) {
    const struct rosbag_v1_fields *f = &r->fields;
    uint32_t count = f->count.size == 4 ? load_u32le(f->count.data) : 0;
    if (r->op != ROSBAG_V1_INDEX || count == 0 || !f->topic.data || f->topic.size > REEL_TEXT_MAX || f->ver.size != 4 ||
        load_u32le(f->ver.data) != 0 || (uint64_t)count * ROSBAG_V1_INDEX_ENTRY != r->size ||
        o->n_topics == REEL_CHANNELS_MAX) {
        return reel_fail(err, REEL_DAMAGED, "the record at %llu is not part of a known in-file index", (ull)r->at);
    }
    bool all = o->whole || count <= 2 * EDGE;
    uint64_t cost = r->head + (all ? (uint64_t)count : 2 * EDGE) * ROSBAG_V1_INDEX_ENTRY;
    if (cost > o->index_left) {
        return reel_fail(err, REEL_DAMAGED, "its in-file index has too many topics to read a part of each");
    }
    o->index_left -= cost;
    uint8_t *name = rosbag_v1_keep(&o->bag, f->topic.size, err);
    if (!name || !GROW_ARRAY(o->topics, o->n_topics, o->cap_topics)) {
        return name ? reel_fail_memory(err) : false;
    }
    memcpy(name, f->topic.data, f->topic.size);
    struct rosbag_v1_listed *t = &o->topics[o->n_topics++];
    *t = (struct rosbag_v1_listed){
        .name = bytes_of(name, f->topic.size), .entries_at = r->at + r->head, .count = count, .stats.count = count};
    return all ? take_entries(o, t, 0, count, err)
               : take_entries(o, t, 0, EDGE, err) && take_entries(o, t, count - EDGE, count, err);
}

static bool rosbag_v1_summary_read_index(struct rosbag_v1_summary *o, struct reel_error *err) {
    uint64_t size = o->bag.source->size, at = o->bag.index_pos;
    if (at < o->taken_to || at > size) {
        return reel_fail(err, REEL_DAMAGED,
                         at == 0 ? "the recording was not closed: it has no in-file index"
                                 : "its in-file index should begin at %llu",
                         (ull)at);
    }
    o->whole = size - at <= INDEX_WHOLE_MAX;
    if (o->whole && !(o->positions = malloc(((size - at) / ROSBAG_V1_INDEX_ENTRY + 1) * sizeof *o->positions))) {
        return reel_fail_memory(err);
    }
    for (struct rosbag_v1_record r; at < size; at = r.at + r.head + r.size) {
        o->index.capacity = INDEX_WINDOW; /* a large buffer after a long header would be read again and again */
        if (!rosbag_v1_record_read(&o->index, at, &r, err) || !take_topic(o, &r, err)) {
            return false;
        }
    }
    if (o->n_positions > 0) {
        qsort(o->positions, o->n_positions, sizeof *o->positions, order_u64);
    }
    for (size_t i = 1; i < o->n_positions; i++) {
        if (o->positions[i] == o->positions[i - 1]) {
            return reel_fail(err, REEL_DAMAGED, "the in-file index has the message at %llu twice",
                             (ull)o->positions[i]);
        }
    }
    return true;
}

/* ---- which messages to look at ---- */

static bool visit_add(struct rosbag_v1_summary *o, uint64_t pos, size_t topic, struct reel_error *err) {
    if (!GROW_ARRAY(o->visits, o->n_visits, o->cap_visits)) {
        return reel_fail_memory(err);
    }
    o->visits[o->n_visits++] = (struct rosbag_v1_visit){.pos = pos, .topic = (uint32_t)topic};
    return true;
}

/* Checks with samples if the topic's messages belong to several channels. */
static bool rosbag_sample(struct rosbag_v1_summary *o, struct rosbag_v1_listed *t, struct reel_error *err) {
    uint64_t kind = 0;
    t->each = t->count <= SAMPLE_MESSAGES;
    for (uint32_t k = 0; k < SAMPLE_MESSAGES && !t->each; k++) {
        struct entry e;
        struct rosbag_v1_record r;
        if (!entry_at(o, t, sample_number(k, t->count), &e, err) || !rosbag_v1_summary_message(o, e.pos, &r, err)) {
            return false;
        }
        const struct rosbag_v1_fields *f = &r.fields;
        if (!bytes_equal(f->topic, t->name) ||
            rosbag_v1_time(load_u32le(f->sec.data), load_u32le(f->nsec.data)) != e.time) {
            return reel_fail(err, REEL_DAMAGED,
                             "the message at %llu has another topic or time than the in-file index says", (ull)r.at);
        }
        uint64_t h = hash_bytes(hash_bytes(o->bag.seed, f->md5), f->type);
        t->each = f->latching.data || f->callerid.data || f->number.data || (k > 0 && h != kind);
        kind = h;
        if (!rosbag_v1_summary_follow(o, &r, err)) {
            return false;
        }
    }
    return true;
}

static int visit_compare(const void *a, const void *b) {
    return order_u64(&((const struct rosbag_v1_visit *)a)->pos, &((const struct rosbag_v1_visit *)b)->pos);
}

static bool choose(struct rosbag_v1_summary *o, struct reel_error *err) {
    for (size_t i = 0; i < o->n_topics; i++) {
        struct rosbag_v1_listed *t = &o->topics[i];
        if (!rosbag_sample(o, t, err)) {
            return false;
        }
        if (t->each && o->n_visits + t->count > o->look_left / ROSBAG_V1_LOOK) {
            return reel_fail(err, REEL_DAMAGED, "too many messages would have to be read to determine their nodes");
        }
        struct entry e = {.pos = t->first_pos};
        for (uint32_t k = 0; k < (t->each ? t->count : 1); k++) {
            if ((t->each && !entry_at(o, t, k, &e, err)) || !visit_add(o, e.pos, i, err)) {
                return false;
            }
        }
    }
    if (o->n_visits > 0) {
        qsort(o->visits, o->n_visits, sizeof *o->visits, visit_compare);
    }
    return true;
}

static bool summary_run(struct rosbag_v1_summary *o, struct reel_error *err) {
    const struct reel_bytes line = bytes_text(ROSBAG_V1_LINE_12);
    struct rosbag_v1 *bag = &o->bag;
    struct rosbag_v1_record r;
    const uint8_t *p = window_at(&bag->window, 0, line.size, err);
    if (!p || !bytes_equal(bytes_of(p, line.size), line)) {
        return p ? reel_fail(err, REEL_DAMAGED,
                             "of the ROS bags before 2.0 only those of version 1.2 have an in-file index")
                 : false;
    }
    reel_scan_container(bag->scan, "#ROSRECORD V1.2");
    bag->framed = true;
    bag->index_pos = bag->source->size; /* until the file header is read */
    if (!rosbag_v1_summary_record(o, line.size, &r, err)) {
        return false;
    }
    if (r.op != ROSBAG_V1_FILE_HEADER || r.fields.index_pos.size != 8) {
        return reel_fail(err, REEL_DAMAGED, "the recording has no file header with the position of an in-file index");
    }
    o->taken_to = r.at + r.head + r.size;
    return rosbag_v1_take(bag, &r, err) && rosbag_v1_summary_read_index(o, err) && choose(o, err) &&
           rosbag_v1_summary_channels(o, err);
}

bool rosbag_v1_summary(struct reel_scan *scan, struct reel_error *err) {
    if (scan->n_parts != 1) {
        return reel_fail(err, REEL_UNSUPPORTED, "a ROS bag is one file, here are %u", scan->n_parts);
    }
    AUTO_STRUCT(summary_close)
    struct rosbag_v1_summary o = {.look_left = ROSBAG_V1_LOOK_BYTES_MAX, .index_left = INDEX_READ_MAX};
    struct reel_error why = {0};
    if (!rosbag_v1_open(&o.bag, scan, ROSBAG_V1_LOOK, err) || !window_open(&o.index, o.bag.source, INDEX_WINDOW, err)) {
        return false;
    }
    bool good = summary_run(&o, &why);
    why.code = why.code == REEL_DAMAGED ? REEL_UNSUPPORTED : why.code;
    return good || reel_error_pass(err, &why);
}
