/* Records ROS bags 1.2: message records one after another, each definition before its first message. Until the bag is
 * closed its header says index_pos=0. The entries of the index wait in a temporary file, in the order of the messages,
 * and are sorted by topic at the end. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "formats/ros/wrap.h"
#include "formats/rosbag/v1_write.h"
#include "index/pack_model.h"
#include "record/record.h"

#include <stdlib.h>

enum { BUFFER_BYTES = 1 << 20, SPOOL_ENTRY = 4 + ROSBAG_V1_INDEX_ENTRY };

struct topic {
    const char *name, *type;
    uint64_t messages;
};

struct recorder {
    struct reel_recorder base;
    struct arena arena;
    struct out_channel *channels;
    size_t cap_channels;
    bool *written; /* by channel: its definition is in the file */
    size_t cap_written;
    struct topic *topics;
    size_t n_topics, cap_topics;
    struct hash_table by_name;   /* → index in `topics` + 1 */
    struct grow buffer, entries; /* of the messages that are not in the file yet */
    FILE *spool;                 /* u32 topic and an index entry for each message */
};

static bool rosbag_v1_record_put_head(struct recorder *b, uint64_t index_pos, struct reel_error *err) {
    enum { SIZE = sizeof ROSBAG_V1_LINE_12 - 1 + ROSBAG_V1_RECORD_MIN + ROSBAG_V1_FILE_HEADER_ROOM };
    uint8_t head[SIZE];
    struct reel_sink out = {.hi = sizeof head, .buffer = head};
    rosbag_v1_put_head(&out, NULL, index_pos);
    return b->base.pos == 0 ? recorder_put(&b->base, head, (size_t)out.pos, err)
                            : recorder_patch(&b->base, 0, head, (size_t)out.pos, err);
}

static bool bag_open(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    b->arena.max = REEL_MODEL_MAX;
    if (r->options.compression && r->options.compression[0]) {
        return reel_fail(err, REEL_UNSUPPORTED, "ROS bag 1.2 knows no compression");
    }
    return (b->spool = recorder_spool(err)) && rosbag_v1_record_put_head(b, 0, err);
}

static void bag_close(struct reel_recorder *r) {
    struct recorder *b = (struct recorder *)r;
    arena_free(&b->arena);
    free(b->channels);
    free(b->written);
    free(b->topics);
    hash_table_free(&b->by_name);
    free(b->buffer.data);
    free(b->entries.data);
    if (b->spool) {
        fclose(b->spool);
    }
}

static bool topic_of(struct recorder *b, const struct ros_connection *ros, uint32_t *topic, struct reel_error *err) {
    struct hash_key key = hash_key_bytes(bytes_text(ros->channel->name));
    uintptr_t known = hash_table_get(&b->by_name, key);
    if (!known) {
        if (!GROW_ARRAY(b->topics, b->n_topics, b->cap_topics)) {
            return reel_fail_memory(err);
        }
        b->topics[b->n_topics] = (struct topic){.name = ros->channel->name, .type = ros->type};
        known = b->n_topics + 1;
        if (!hash_table_set(&b->by_name, key, known, err)) {
            return false;
        }
        b->n_topics++;
    }
    *topic = (uint32_t)(known - 1);
    return true;
}

static bool bag_channel(struct reel_recorder *r, const struct reel_channel *channel, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    uint32_t n = r->n_channels;
    struct reel_channel *own = arena_alloc(&b->arena, sizeof *own);
    if (!own || !pack_model_copy_channel(&b->arena, channel, own)) {
        return arena_fail(&b->arena, err);
    }
    if (!GROW_ARRAY(b->channels, n, b->cap_channels) || !GROW_ARRAY(b->written, n, b->cap_written)) {
        return reel_fail_memory(err);
    }
    struct out_channel *o = &b->channels[n];
    *o = (struct out_channel){0};
    b->written[n] = false;
    return ros_connection_of(&b->arena, own, ROS_NAMES_RECORDED, &o->ros, err) &&
           topic_of(b, &o->ros, &o->topic, err) && rosbag_v1_channel_head(&b->arena, o, n, err);
}

static bool bag_flush(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    size_t n = b->entries.size / SPOOL_ENTRY;
    bool good = recorder_put(r, b->buffer.data, b->buffer.size, err);
    for (size_t i = 0; good && i < n; i++) {
        b->topics[load_u32le(b->entries.data + i * SPOOL_ENTRY)].messages++;
    }
    if (good && n > 0 && fwrite(b->entries.data, b->entries.size, 1, b->spool) != 1) {
        good = reel_fail_errno(err, "could not write a temporary file");
    }
    for (uint32_t c = 0; c < r->n_channels && !good; c++) {
        b->written[c] = false; /* which of them were lost is not known: a definition may be there twice */
    }
    b->buffer.size = b->entries.size = 0;
    return good;
}

/* A definition record before the channel's first message. */
static bool define(struct recorder *b, uint32_t channel, struct reel_error *err) {
    const struct out_connection c = {.ros = &b->channels[channel].ros, .number = channel};
    uint64_t size = rosbag_v1_definition_size(&c);
    uint8_t *p = grow_take(&b->buffer, (size_t)size);
    if (!p) {
        return reel_fail_memory(err);
    }
    rosbag_v1_put_definition(&(struct reel_sink){.hi = size, .buffer = p}, &c);
    b->written[channel] = true;
    return true;
}

static bool bag_message(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    struct out_channel *o = &b->channels[record->channel];
    int64_t time = record->log_time_ns + (record->log_time_ns == 0); /* ROS readers skip messages at time 0 */
    size_t size = o->head_size + 4 + o->wrap + record->payload.size;
    if (time / ROSBAG_V1_NS_PER_SEC > UINT32_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "a message at %lld ns: ROS bags hold times from 1970 to 2106 only",
                         (long long)time);
    }
    if (b->buffer.size > 0 && b->buffer.size + size > BUFFER_BYTES && !bag_flush(r, err)) {
        return false;
    }
    if (!b->written[record->channel] && !define(b, record->channel, err)) {
        return false;
    }
    uint64_t message_at = r->pos + b->buffer.size;
    uint8_t *p = grow_take(&b->buffer, size), *entry = p ? grow_take(&b->entries, SPOOL_ENTRY) : NULL;
    if (!entry) {
        return reel_fail_memory(err);
    }
    struct reel_sink out = {.hi = size, .buffer = p};
    store_u32le(o->head + o->sec_at, (uint32_t)(time / ROSBAG_V1_NS_PER_SEC));
    store_u32le(o->head + o->nsec_at, (uint32_t)(time % ROSBAG_V1_NS_PER_SEC));
    reel_sink_put(&out, o->head, o->head_size);
    reel_sink_u32le(&out, (uint32_t)record->payload.size + o->wrap);
    if (o->wrap > 0) {
        ros_wrap_put_head(&out, (uint32_t)record->payload.size);
    }
    reel_sink_put_bytes(&out, record->payload);
    store_u32le(entry, o->topic);
    store_u32le(entry + 4, (uint32_t)(time / ROSBAG_V1_NS_PER_SEC));
    store_u32le(entry + 8, (uint32_t)(time % ROSBAG_V1_NS_PER_SEC));
    store_u64le(entry + 12, message_at);
    return true;
}

/* ---- the end */

static bool put_index_head(struct reel_recorder *r, size_t key, struct reel_error *err) {
    const struct topic *topic = &((struct recorder *)r)->topics[key];
    struct reel_sink count = {0};
    if (!rosbag_v1_put_index_head(&count, topic->name, topic->type, topic->messages, err)) {
        return false;
    }
    AUTO_MEM uint8_t *head = malloc((size_t)count.pos);
    if (!head) {
        return reel_fail_memory(err);
    }
    rosbag_v1_put_index_head(&(struct reel_sink){.hi = count.pos, .buffer = head}, topic->name, topic->type,
                             topic->messages, err);
    return recorder_put(r, head, (size_t)count.pos, err);
}

static bool bag_finish(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    uint64_t index_pos = r->pos;
    AUTO_MEM uint64_t *counts = calloc(b->n_topics + 1, sizeof *counts);
    if (!counts) {
        return reel_fail_memory(err);
    }
    for (size_t t = 0; t < b->n_topics; t++) {
        counts[t] = b->topics[t].messages;
    }
    const struct recorder_tables index = {.spool = b->spool,
                                          .row_size = ROSBAG_V1_INDEX_ENTRY,
                                          .n_keys = b->n_topics,
                                          .counts = counts,
                                          .head = put_index_head};
    return recorder_put_tables(r, &index, err) && rosbag_v1_record_put_head(b, index_pos, err);
}

const struct reel_recorder_ops rosbag_v1_recorder = {
    .state_size = sizeof(struct recorder),
    .open = bag_open,
    .channel = bag_channel,
    .message = bag_message,
    .flush = bag_flush,
    .finish = bag_finish,
    .close = bag_close,
};
