/* Compares the index of a 1.2 bag with the walk. The walk decides; the index is read entry by entry, and differences
 * are reported by topic. Positions and stamps are compared as a sum of hashes, so the order of entries does not matter
 * and none is kept. */
#include "base/bytes.h"
#include "formats/rosbag/v1.h"

static bool add_entries(struct rosbag_v1 *bag, struct rosbag_v1_topic *topic, const struct rosbag_v1_record *r,
                        struct reel_error *err) {
    uint64_t at = r->at + r->head;
    for (uint32_t left = r->size / ROSBAG_V1_INDEX_ENTRY; left > 0;) {
        uint32_t n = left < 4096 ? left : 4096;
        const uint8_t *p = window_at(&bag->window, at, (size_t)n * ROSBAG_V1_INDEX_ENTRY, err);
        if (!p || !rosbag_v1_progress(bag, at, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++, p += ROSBAG_V1_INDEX_ENTRY) {
            uint64_t pos = load_u64le(p + 8);
            pos = pos == topic->definition_at ? topic->first_at : pos;
            topic->index_sum += rosbag_v1_entry_hash(load_u32le(p), load_u32le(p + 4), pos);
        }
        topic->index_entries += n;
        left -= n;
        at += (uint64_t)n * ROSBAG_V1_INDEX_ENTRY;
    }
    return true;
}

static bool rosbag_take_index(struct rosbag_v1 *bag, const struct rosbag_v1_record *r, struct reel_error *err) {
    const struct rosbag_v1_fields *f = &r->fields;
    struct rosbag_v1_topic *topic = f->topic.data ? rosbag_v1_topic_named(bag, f->topic) : NULL;
    if (!topic) {
        const char *name = reel_scan_text(
            bag->scan,
            bytes_of(f->topic.data ? f->topic.data : (const uint8_t *)"", f->topic.size < 256 ? f->topic.size : 256),
            err);
        return name && reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0,
                                         "the in-file index has topic %s, but there is no message of it", name);
    }
    topic->indexed = true;
    uint32_t ver = f->ver.size == 4 ? load_u32le(f->ver.data) : UINT32_MAX;
    if (ver != 0) {
        topic->distrusted = true;
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0,
                          "the in-file index of topic %s is of version %u: not used", topic->text, ver);
        return true;
    }
    uint64_t count = f->count.size == 4 ? load_u32le(f->count.data) : 0;
    if (count * ROSBAG_V1_INDEX_ENTRY != r->size) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0,
                          "the in-file index of topic %s says %llu entries but holds %u bytes", topic->text, (ull)count,
                          r->size);
    }
    return add_entries(bag, topic, r, err);
}

static void rosbag_v1_index_compare(struct rosbag_v1 *bag, const struct rosbag_v1_topic *t) {
    if (t->distrusted) {
        return;
    }
    if (!t->indexed && t->messages > 0) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->index_at, 0,
                          "the in-file index lacks topic %s, which has %llu messages", t->text, (ull)t->messages);
    } else if (t->index_entries != t->messages) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->index_at, 0,
                          "the in-file index names %llu messages of topic %s, the file holds %llu",
                          (ull)t->index_entries, t->text, (ull)t->messages);
    } else if (t->index_sum != t->sum) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->index_at, 0,
                          "the in-file index of topic %s names other times or positions than its messages have",
                          t->text);
    }
}

bool rosbag_v1_index_prove(struct rosbag_v1 *bag, struct reel_error *err) {
    if (bag->index_at == ROSBAG_V1_NOWHERE) {
        rosrecord_no_index(bag->scan, bag->has_header, bag->index_pos, bag->messages > 0, "in-file index");
        return true;
    }
    if (bag->index_at != bag->index_pos) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->index_at, 0,
                          "the in-file index begins at %llu, the file header says %llu", (ull)bag->index_at,
                          (ull)bag->index_pos);
    }
    bag->report_at = bag->index_at;
    for (uint64_t at = bag->index_at; at < bag->source->size;) {
        struct rosbag_v1_record r;
        struct reel_error why = {0};
        if (!rosbag_v1_record_read(&bag->window, at, &r, &why)) {
            if (why.code != REEL_DAMAGED) {
                return reel_error_pass(err, &why);
            }
            break; /* the walk has reported it */
        }
        uint64_t next = at + r.head + r.size;
        if (r.op == ROSBAG_V1_INDEX && !rosbag_take_index(bag, &r, err)) {
            return false;
        }
        at = next;
    }
    for (const struct rosbag_v1_topic *t = bag->topics; t; t = t->next) {
        rosbag_v1_index_compare(bag, t);
    }
    return true;
}
