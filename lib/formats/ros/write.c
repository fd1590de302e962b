/* See write.h. */
#include "formats/ros/write.h"

#include "base/bytes.h"
#include "base/limits.h"
#include "formats/ros/channel_definition.h"
#include "formats/ros/md5.h"
#include "formats/ros/rename.h"
#include "formats/ros/text.h"
#include "formats/ros/wrap.h"

enum { NS_PER_SEC = 1000000000 };

static const char no_md5[] = "00000000000000000000000000000000";

static bool is_md5(const char *text) {
    return strlen(text) == 32 && strcmp(text, no_md5) != 0;
}

/* False: no memory. */
static bool find_md5(struct arena *arena, const struct reel_channel *c, struct ros_connection *out,
                     struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(c);
    const char *recorded = own && is_md5(own->hash) ? own->hash : NULL;
    char computed[MD5_HEX];
    struct reel_error why = {0};
    out->md5 = recorded ? recorded : no_md5;
    if ((recorded && c->n_schemas == 1) || !own || !ros_is_defined(own, c->type) ||
        out->definition.size > REEL_SCHEMA_MAX) {
        return true;
    }
    if (ros_md5(c->type, out->definition, computed, &why)) {
        out->md5 = arena_text(arena, computed);
        return out->md5 || reel_fail_memory(err);
    }
    return why.code != REEL_NO_MEMORY || reel_fail_memory(err);
}

static bool rename_types(struct arena *arena, struct ros_connection *ros, struct reel_error *err) {
    const char *type = ros->type;
    ros->type = ros_rename_type(type);
    ros->renamed = ros->type != type || ros_rename_changes(type, ros->definition);
    return ros_rename_definition(arena, type, ros->definition, &ros->definition, err);
}

bool ros_connection_of(struct arena *arena, const struct reel_channel *c, enum ros_names names,
                       struct ros_connection *out, struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(c);
    *out = (struct ros_connection){.channel = c, .type = c->type, .md5 = no_md5, .definition = bytes_of("", 0)};
    if (ros_wrap_needed(c)) {
        out->type = ROS_WRAP_TYPE;
        out->md5 = ROS_WRAP_MD5;
        out->definition = bytes_text(ros_wrap_definition);
        return true;
    }
    struct reel_error why = {0};
    if (own && ros_language_of(c, own) == ROS_LANGUAGE_MSG && !channel_definition(arena, c, &out->definition, &why) &&
        why.code != REEL_LIMIT) {
        return reel_fail_memory(err);
    }
    return find_md5(arena, c, out, err) && (names == ROS_NAMES_RECORDED || rename_types(arena, out, err));
}

const char *ros_metadata_of(const struct reel_channel *c, const char *key) {
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (strcmp(c->metadata.items[i].key, key) == 0) {
            return c->metadata.items[i].value;
        }
    }
    return NULL;
}

void ros_report_channel(const struct ros_connection *connection, struct reel_loss *loss) {
    const struct reel_channel *c = connection->channel;
    if (ros_wrap_needed(c)) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "messages in %s encoding are stored as " ROS_WRAP_TYPE
                      ", together with their type, encoding, schema and metadata",
                      c->encoding[0] ? c->encoding : "an unknown");
        return;
    }
    if (strcmp(connection->md5, no_md5) == 0) {
        reel_loss_add(loss, REEL_CHANGES, c, "no md5 sum of the type is known: written as zeros");
    }
    if (connection->definition.size == 0) {
        reel_loss_add(loss, REEL_CHANGES, c, "no message definition is known: an empty one is written");
    }
    if (connection->renamed) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "definition: types of the old package roslib get their later names (std_msgs/Header, "
                      "rosgraph_msgs/Log, …)");
    }
    if (c->n_schemas > 1) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "%u schemas become one definition with its dependencies; their hashes are lost", c->n_schemas);
    }
}

bool ros_accepts(const struct reel_channel *c, enum ros_names names,
                 bool (*fits)(const struct ros_connection *connection, struct reel_loss *loss),
                 struct reel_loss *loss) {
    struct arena arena = {0};
    struct ros_connection ros;
    struct reel_error err = {0};
    bool good = ros_connection_of(&arena, c, names, &ros, &err);
    if (!good) {
        reel_loss_fail(loss, &err);
        reel_loss_add(loss, REEL_REFUSES, c, "%s", err.text);
    }
    good = good && fits(&ros, loss);
    arena_free(&arena);
    return good;
}

bool ros_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    size_t metadata = 0;
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        metadata += reel_index_metadata(reel_recording_index(reel_reader_recording(stream->readers[i])))->count;
    }
    if (metadata > 0) {
        reel_loss_add(loss, REEL_LOSES, NULL, "%zu metadata values of the recording", metadata);
    }
    return ros_accepts_all_but_metadata(stream, loss);
}

void ros_report_silent(const struct reel_stream *stream, struct reel_loss *loss) {
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        struct reel_reader *reader = stream->readers[stream->channel_source[i]];
        const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
        uint32_t id = stream->channels[i]->id;
        if (id < reel_index_info(index)->n_channels && reel_index_stats(index, id)->count == 0) {
            reel_loss_add(loss, REEL_LOSES, stream->channels[i], "the topic, because it has no messages");
        }
    }
}

bool ros_accepts_all_but_metadata(const struct reel_stream *stream, struct reel_loss *loss) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        const struct reel_index *index = reel_recording_index(reel_reader_recording(stream->readers[i]));
        size_t attachments = 0;
        reel_index_attachments(index, &attachments);
        if (attachments > 0) {
            reel_loss_add(loss, REEL_LOSES, NULL, "%zu attachments", attachments);
        }
        if (reel_index_info(index)->format->describe) {
            reel_loss_add(loss, REEL_LOSES, NULL, "sequence numbers and publish times");
        }
        if (reel_index_info(index)->messages > 0 && reel_index_info(index)->start_ns == -stream->shifts[i]) {
            reel_loss_add(loss, REEL_CHANGES, NULL, "a message at time 0 moves to 1 ns: ROS has no time 0");
        }
    }
    if (stream->n_sources > 1) {
        reel_loss_add(loss, REEL_CHANGES, NULL, "%u recordings become one", stream->n_sources);
    }
    return true;
}

bool ros_stamp(const struct reel_write *w, const struct reel_message *m, uint32_t *sec, uint32_t *nsec,
               struct reel_error *err) {
    int64_t time = reel_write_time(w, m);
    if (time < 0 || time / NS_PER_SEC > UINT32_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "topic %s: a message at %lld ns: ROS bags hold times from 1970 to 2106 only",
                         w->stream->channels[m->channel]->name, (long long)time);
    }
    time += time == 0; /* ROS readers skip messages at time 0, or refuse the whole bag */
    *sec = (uint32_t)(time / NS_PER_SEC);
    *nsec = (uint32_t)(time % NS_PER_SEC);
    return true;
}
