/* Writes ROS bag 1.2 with an index, laid out as by ROS' own recorders: file header, a definition record of each
 * connection right before its first message, index records by topic at the end (v1_write_index.c). Record contents are
 * defined once, in functions that both count and render. */
#include "formats/rosbag/v1_write.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/ros/wrap.h"
#include "formats/ros/write.h"
#include "formats/rosbag/v1.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    GROUP_BYTES = 1 << 20,
    GROUP_MESSAGES = 8192,
    HEADER_FIELDS_MAX = 64 << 10, /* of the file header */
};

/* ---- what fits ---- */

static void rosbag_put_number(struct reel_sink *out, uint32_t channel) {
    char text[16];
    int size = snprintf(text, sizeof text, "%u", channel);
    ros_put_field(out, ROS_WRAP_NUMBER, bytes_of(text, (size_t)size));
}

bool rosbag_v1_is_free(const char *name) {
    return name[0] != '\0' && !strchr(name, '=') && rosbag_v1_is_extra(bytes_text(name));
}

/* `number` distinguishes wrapped channels of one topic. Fields are sorted by name, as in every file of ROS. */
static void definition_fields(struct reel_sink *out, const struct ros_connection *ros, uint32_t number) {
    const struct reel_channel *c = ros->channel;
    ros_put_field(out, "def", ros->definition);
    ros_put_field(out, "md5", bytes_text(ros->md5));
    ros_put_op(out, ROSBAG_V1_DEFINITION);
    if (ros_wrap_needed(c)) {
        rosbag_put_number(out, number);
        ros_wrap_put_fields(out, c);
    }
    ros_put_field(out, "topic", bytes_text(c->name));
    ros_put_field(out, "type", bytes_text(ros->type));
    for (size_t i = 0; !ros_wrap_needed(c) && i < c->metadata.count; i++) {
        if (rosbag_v1_is_free(c->metadata.items[i].key)) {
            ros_put_field(out, c->metadata.items[i].key, bytes_text(c->metadata.items[i].value));
        }
    }
}

static bool accepts_connection(const struct ros_connection *ros, struct reel_loss *loss) {
    const struct reel_channel *c = ros->channel;
    struct reel_sink count = {0};
    definition_fields(&count, ros, 0);
    if (count.pos > REEL_RECORD_HEADER_MAX) {
        reel_loss_add(loss, REEL_REFUSES, c, "its definition of %llu bytes does not fit a record header",
                      (unsigned long long)count.pos);
        return false;
    }
    ros_report_channel(ros, loss);
    for (size_t i = 0; !ros_wrap_needed(c) && i < c->metadata.count; i++) {
        const char *key = c->metadata.items[i].key;
        if (strcmp(key, "callerid") != 0 && strcmp(key, "latching") != 0 && !rosbag_v1_is_free(key)) {
            reel_loss_add(loss, REEL_LOSES, c, "the channel's metadata \"%s\"", key);
        }
    }
    return true;
}

static bool rosbag_v1_accepts(const struct reel_channel *c, struct reel_loss *loss) {
    return ros_accepts(c, ROS_NAMES_RECORDED, accepts_connection, loss);
}

/* ---- records ---- */

static void message_fields(struct reel_sink *out, const struct ros_connection *ros, uint32_t number, uint64_t *sec_at,
                           uint64_t *nsec_at) {
    const struct reel_channel *c = ros->channel;
    const struct reel_bytes stamp_word = bytes_of("\0\0\0", 4);
    bool wrapped = ros_wrap_needed(c);
    const char *callerid = wrapped ? NULL : ros_metadata_of(c, "callerid"),
               *latching = wrapped ? NULL : ros_metadata_of(c, "latching");
    if (callerid) {
        ros_put_field(out, "callerid", bytes_text(callerid));
    }
    if (latching || c->latched) {
        ros_put_field(out, "latching", bytes_text(latching ? latching : "1"));
    }
    ros_put_field(out, "md5", bytes_text(ros->md5));
    *nsec_at = ros_put_field(out, "nsec", stamp_word);
    ros_put_op(out, ROSBAG_V1_MESSAGE);
    if (wrapped) {
        rosbag_put_number(out, number);
    }
    *sec_at = ros_put_field(out, "sec", stamp_word);
    ros_put_field(out, "topic", bytes_text(c->name));
    ros_put_field(out, "type", bytes_text(ros->type));
}

void rosbag_v1_put_definition(struct reel_sink *out, const struct out_connection *c) {
    struct reel_sink count = {0};
    definition_fields(&count, c->ros, c->number);
    reel_sink_u32le(out, (uint32_t)count.pos);
    definition_fields(out, c->ros, c->number);
    reel_sink_u32le(out, 0);
}

uint64_t rosbag_v1_definition_size(const struct out_connection *c) {
    struct reel_sink count = {0};
    rosbag_v1_put_definition(&count, c);
    return count.pos;
}

/* ---- a run ---- */

bool rosbag_v1_channel_head(struct arena *arena, struct out_channel *o, uint32_t number, struct reel_error *err) {
    uint64_t sec_at, nsec_at;
    struct reel_sink count = {0};
    message_fields(&count, &o->ros, number, &sec_at, &nsec_at);
    if (!(o->head = arena_alloc(arena, (size_t)count.pos + 4))) {
        return reel_fail_memory(err);
    }
    o->head_size = (uint32_t)count.pos + 4;
    struct reel_sink sink = {.buffer = o->head, .hi = o->head_size};
    reel_sink_u32le(&sink, (uint32_t)count.pos);
    message_fields(&sink, &o->ros, number, &sec_at, &nsec_at);
    o->sec_at = (uint32_t)sec_at;
    o->nsec_at = (uint32_t)nsec_at;
    o->wrap = ros_wrap_needed(o->ros.channel) ? ROS_WRAP_HEAD : 0;
    return true;
}

static int channel_compare(const void *a, const void *b, void *context) {
    const struct out_channel *channels = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct ros_connection *x = &channels[i].ros, *y = &channels[j].ros;
    int order = strcmp(x->channel->name, y->channel->name);
    order = order ? order : strcmp(x->type, y->type);
    order = order ? order : strcmp(x->md5, y->md5);
    return order ? order : (i > j) - (i < j);
}

/* Numbers the topics by name, and the connections. */
static bool run_number(struct rosbag_v1_run *run, const struct reel_stream *stream, struct reel_error *err) {
    uint32_t n = stream->n_channels;
    AUTO_MEM uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    if (!order) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        if (!ros_connection_of(&run->arena, stream->channels[i], ROS_NAMES_RECORDED, &run->channels[i].ros, err)) {
            return false;
        }
    }
    qsort_r(order, n, sizeof *order, channel_compare, run->channels);
    const struct ros_connection *last = NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct out_channel *o = &run->channels[order[i]];
        const struct ros_connection *ros = &o->ros;
        bool new_topic = !last || strcmp(last->channel->name, ros->channel->name) != 0;
        if (new_topic) {
            run->topics[run->n_topics++] = ros->channel->name;
        }
        if (new_topic || ros_wrap_needed(ros->channel) || strcmp(last->type, ros->type) != 0 ||
            strcmp(last->md5, ros->md5) != 0) {
            run->connections[run->n_connections++] = (struct out_connection){.ros = ros, .number = order[i]};
        }
        o->topic = run->n_topics - 1;
        o->connection = run->n_connections - 1;
        if (!rosbag_v1_channel_head(&run->arena, o, order[i], err)) {
            return false;
        }
        last = ros;
    }
    return true;
}

static bool open_writer(struct reel_write *w, struct reel_error *err) {
    struct rosbag_v1_run *run = w->run;
    struct rosbag_v1_totals *totals = w->totals;
    size_t n = (size_t)w->stream->n_channels + 1;
    if (w->options->compression && w->options->compression[0] != '\0') {
        return reel_fail(err, REEL_UNSUPPORTED, "ROS bag 1.2 knows no compression");
    }
    run->channels = arena_alloc(&run->arena, n * sizeof *run->channels);
    run->connections = arena_alloc(&run->arena, n * sizeof *run->connections);
    run->topics = arena_alloc(&run->arena, n * sizeof *run->topics);
    run->seen = arena_alloc(&run->arena, n * sizeof *run->seen);
    run->counts = arena_alloc(&run->arena, n * sizeof *run->counts);
    run->touched = arena_alloc(&run->arena, n * sizeof *run->touched);
    run->note = arena_alloc(&run->arena, (n < GROUP_MESSAGES ? n : GROUP_MESSAGES) * ROSBAG12_NOTE_ROW);
    if (!run->channels || !run->connections || !run->topics || !run->seen || !run->counts || !run->touched ||
        !run->note) {
        return reel_fail_memory(err);
    }
    if (!run_number(run, w->stream, err)) {
        return false;
    }
    if (totals->topic_messages) {
        return true; /* planned */
    }
    totals->first_group = reel_write_keep(w, n * sizeof *totals->first_group, err);
    totals->topic_connection =
        totals->first_group ? reel_write_keep(w, n * sizeof *totals->topic_connection, err) : NULL;
    totals->topic_messages =
        totals->topic_connection ? reel_write_keep(w, n * sizeof *totals->topic_messages, err) : NULL;
    return totals->topic_messages != NULL;
}

static void close_writer(struct reel_write *w) {
    struct rosbag_v1_run *run = w->run;
    arena_free(&run->arena);
}

/* The metadata of the recordings are further fields. Returns how many have no room. */
static size_t head_fields(struct reel_sink *out, const struct reel_stream *stream, uint64_t index_pos) {
    uint64_t from = out->pos;
    size_t left = 0;
    ros_put_u64(out, "index_pos", index_pos);
    ros_put_op(out, ROSBAG_V1_FILE_HEADER);
    for (uint32_t i = 0; stream && i < stream->n_sources; i++) {
        const struct reel_pairs *pairs =
            reel_index_metadata(reel_recording_index(reel_reader_recording(stream->readers[i])));
        for (size_t k = 0; k < pairs->count; k++) {
            const struct reel_pair *p = &pairs->items[k];
            bool fits =
                rosbag_v1_is_free(p->key) && out->pos - from + strlen(p->key) + strlen(p->value) < HEADER_FIELDS_MAX;
            left += !fits;
            if (fits) {
                ros_put_field(out, p->key, bytes_text(p->value));
            }
        }
    }
    return left;
}

static bool rosbag_v1_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    struct reel_sink count = {0};
    size_t left = head_fields(&count, stream, 0);
    if (left > 0) {
        reel_loss_add(loss, REEL_LOSES, NULL, "%zu metadata values of the recording", left);
    }
    ros_report_silent(stream, loss);
    return ros_accepts_all_but_metadata(stream, loss);
}

uint64_t rosbag_v1_put_head(struct reel_sink *out, const struct reel_stream *stream, uint64_t index_pos) {
    struct reel_sink count = {0};
    uint64_t from = out->pos;
    head_fields(&count, stream, index_pos);
    uint64_t padding = count.pos < ROSBAG_V1_FILE_HEADER_ROOM ? ROSBAG_V1_FILE_HEADER_ROOM - count.pos : 0;
    reel_sink_put_bytes(out, bytes_text(ROSBAG_V1_LINE_12));
    reel_sink_u32le(out, (uint32_t)count.pos);
    head_fields(out, stream, index_pos);
    reel_sink_u32le(out, (uint32_t)padding);
    reel_sink_fill(out, ' ', padding);
    return out->pos - from;
}

static bool rosbag_v1_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)err;
    uint64_t groups = reel_write_groups(w); /* 0 while planning: the same size with any index_pos */
    uint64_t index_pos;
    if (groups > 0) {
        const struct reel_group *last = reel_write_group(w, groups - 1);
        index_pos = last->offset + last->size;
    } else {
        struct reel_sink count = {0};
        index_pos = rosbag_v1_put_head(&count, w->stream, 0);
    }
    rosbag_v1_put_head(out, w->stream, index_pos);
    return true;
}

bool rosbag_v1_is_first(struct reel_write *w, uint32_t connection, uint64_t group) {
    struct rosbag_v1_run *run = w->run;
    struct rosbag_v1_totals *totals = w->totals;
    if (run->seen[connection] == run->pass) {
        return false;
    }
    run->seen[connection] = run->pass;
    if (w->planning && totals->first_group[connection] == 0) {
        totals->first_group[connection] = group + 1;
    }
    return totals->first_group[connection] == group + 1;
}

uint32_t rosbag_v1_extra(const struct reel_write *w, const struct reel_message *m) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(w->stream->readers[m->source]));
    const struct out_channel *o = &((const struct rosbag_v1_run *)w->run)->channels[m->channel];
    bool own = !m->owned && reel_index_info(index)->format == &reel_format_rosbag_v1;
    return own && m->entry.extra[0] + o->head_size <= REEL_RECORD_HEADER_MAX ? (uint32_t)m->entry.extra[0] : 0;
}

/* Copies the unknown fields of the message's header in its own file. */
static bool put_extra(struct reel_write *w, const struct reel_message *m, uint32_t size, struct reel_sink *out,
                      struct reel_error *err) {
    if (size == 0 || out->pos + size <= out->lo || out->pos >= out->hi) {
        reel_sink_fill(out, 0, size);
        return true;
    }
    struct reel_bytes record, name, value;
    uint64_t from = out->pos;
    if (!reel_reader_view(w->stream->readers[m->source], m->entry.chunk, m->entry.offset, m->entry.head, &record,
                          err)) {
        return false;
    }
    struct cursor c = cursor_of(record), fields = cursor_of(cursor_bytes(&c, cursor_u32le(&c)));
    for (const uint8_t *at = fields.at; rosrecord_field(&fields, &name, &value); at = fields.at) {
        bool extra = rosbag_v1_is_extra(name) && out->pos - from + (uint64_t)(fields.at - at) <= size;
        reel_sink_put(out, at, extra ? (size_t)(fields.at - at) : 0);
    }
    return out->pos - from == size || reel_fail(err, REEL_CHANGED, "a message's header is not what was scanned");
}

static bool rosbag_v1_write_put_message(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                                        struct reel_error *err) {
    struct rosbag_v1_run *run = w->run;
    const struct out_channel *o = &run->channels[m->channel];
    uint32_t sec, nsec;
    if (!ros_stamp(w, m, &sec, &nsec, err)) {
        return false;
    }
    if (rosbag_v1_is_first(w, o->connection, w->group)) {
        rosbag_v1_put_definition(out, &run->connections[o->connection]);
    }
    uint32_t extra = rosbag_v1_extra(w, m);
    store_u32le(o->head, o->head_size - 4 + extra);
    store_u32le(o->head + o->sec_at, sec);
    store_u32le(o->head + o->nsec_at, nsec);
    reel_sink_put(out, o->head, o->head_size);
    if (!put_extra(w, m, extra, out, err)) {
        return false;
    }
    if (m->size > UINT32_MAX - o->wrap) {
        return reel_fail(err, REEL_UNSUPPORTED, "topic %s: a message of %u bytes has no room for its wrapper",
                         w->stream->channels[m->channel]->name, m->size);
    }
    reel_sink_u32le(out, m->size + o->wrap);
    if (o->wrap > 0) {
        ros_wrap_put_head(out, m->size);
    }
    return reel_write_payload(w, m, out, err);
}

static void rosbag_count_message(struct reel_write *w, const struct out_channel *o) {
    struct rosbag_v1_run *run = w->run;
    struct rosbag_v1_totals *totals = w->totals;
    if (totals->topic_messages[o->topic]++ == 0) {
        totals->topic_connection[o->topic] = o->connection;
    }
    if (run->counts[o->topic]++ == 0) {
        run->touched[run->n_touched++] = o->topic;
    }
}

/* Stores which topics the group has, and how often. */
static bool leave_note(struct reel_write *w, struct reel_error *err) {
    struct rosbag_v1_run *run = w->run;
    for (uint32_t i = 0; i < run->n_touched; i++) {
        uint32_t topic = run->touched[i];
        store_u32le(run->note + (size_t)i * ROSBAG12_NOTE_ROW, topic);
        store_u32le(run->note + (size_t)i * ROSBAG12_NOTE_ROW + 4, run->counts[topic]);
        run->counts[topic] = 0;
    }
    size_t size = (size_t)run->n_touched * ROSBAG12_NOTE_ROW;
    run->n_touched = 0;
    return reel_write_note(w, run->note, size, err);
}

static bool rosbag_v1_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct rosbag_v1_run *run = w->run;
    uint64_t from = out->pos;
    run->pass++;
    for (uint32_t count = 0; count < GROUP_MESSAGES && out->pos - from < GROUP_BYTES; count++) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step == REEL_STEP_ERROR) {
            return false;
        }
        if (step == REEL_STEP_END) {
            break;
        }
        if (count > 0 && m.size >= GROUP_BYTES) {
            reel_write_unget(w, &m); /* a huge message gets its own group */
            break;
        }
        if (!rosbag_v1_write_put_message(w, &m, out, err)) {
            return false;
        }
        if (w->planning) {
            rosbag_count_message(w, &run->channels[m.channel]);
        }
    }
    return !w->planning || leave_note(w, err);
}

const struct reel_writer reel_writer_rosbag_v1 = {
    .name = "rosbag-1.2",
    .extension = ".bag",
    .variant = "1.2",
    .media_type = "application/x-rosbag",
    .version = 3,
    .encoding = "ros1",
    .totals_size = sizeof(struct rosbag_v1_totals),
    .run_size = sizeof(struct rosbag_v1_run),
    .accepts = rosbag_v1_accepts,
    .accepts_all = rosbag_v1_accepts_all,
    .open = open_writer,
    .close = close_writer,
    .head = rosbag_v1_head,
    .messages = rosbag_v1_messages,
    .tail_parts = rosbag_v1_tail_parts,
    .tail = rosbag_v1_tail,
    .recorder = &rosbag_v1_recorder,
};
