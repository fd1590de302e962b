/* See undecoded.h. */
#include "values/undecoded.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash_table.h"
#include "decode/encoding.h"
#include "stream/stream.h"

static bool decode_first(struct reel_recording *recording, uint32_t channel, const struct reel_decoder *decoder,
                         struct reel_error *why, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = stream_of_channel(recording, &channel, err);
    struct reel_message m;
    struct reel_bytes payload;
    struct reel_error unreadable = {0};
    struct reel_visitor nobody = {.ops = &visit_nothing};
    enum reel_step step = stream ? stream_next(stream, &m, &unreadable) : REEL_STEP_ERROR;
    if (!stream) {
        return false;
    }
    if (step != REEL_STEP_MESSAGE || !stream_decodable(stream, &m, &payload, &unreadable)) {
        return reel_error_ignore(err, &unreadable);
    }
    if (!reel_decode(decoder, payload, &nobody, why)) {
        reel_error_at(why, "%.128s", reel_stream_channel(stream, 0)->name);
    }
    return true;
}

bool channel_undecoded(struct reel_recording *recording, uint32_t channel, struct reel_error *why,
                       struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    *why = (struct reel_error){0};
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(reel_index_channel(index, channel), why);
    if (decoder && reel_index_stats(index, channel)->count > 0 &&
        !decode_first(recording, channel, decoder, why, err)) {
        return false;
    }
    return reel_error_ignore(err, why);
}

bool channel_has_topic(const struct reel_channel *c, const char *topic) {
    bool has = false;
    for (uint32_t t = 0; t < c->n_topics && !has; t++) {
        has = strcmp(c->topics[t] + (c->topics[t][0] == '/'), topic + (topic[0] == '/')) == 0;
    }
    return has;
}

bool topic_undecoded(struct reel_recording *recording, const char *topic, struct reel_error *why,
                     struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    *why = (struct reel_error){0};
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && why->code == REEL_OK; i++) {
        if (channel_has_topic(reel_index_channel(index, i), topic) && !channel_undecoded(recording, i, why, err)) {
            return false;
        }
    }
    return true;
}

bool undecoded_topics(struct reel_recording *recording, undecoded_visit visit, void *context, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    struct hash_table listed = {0};
    bool good = true, wanted = true;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && good && wanted; i++) {
        const char *name = reel_index_channel(index, i)->name;
        struct reel_error why;
        struct hash_key key = hash_key_bytes(bytes_text(name));
        if (hash_table_get(&listed, key)) {
            continue;
        }
        good = channel_undecoded(recording, i, &why, err);
        if (good && why.code != REEL_OK) {
            good = hash_table_set(&listed, key, 1, err);
            wanted = visit(context, name, why.text);
        }
    }
    hash_table_free(&listed);
    return good;
}
