/* See foxglove_viewer.h. */
#include "api/contents/foxglove_viewer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/contents/foxglove_message.h"
#include "app.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limits.h"
#include "http/json_text.h"
#include "play/play.h"

static const int64_t CLOCK_NS = 20000000; /* between two messages of the time */

void foxglove_socket_free(void *context) {
    struct foxglove_socket *s = context;
    if (!s) {
        return;
    }
    plays_remove(s->app->plays, s->entry);
    if (s->play) {
        play_wake(s->play, -1); /* who changes it now may still hold it when s->wake is closed */
    }
    reel_stream_free(s->stream);
    reel_play_free(s->play);
    api_recording_done(&s->a);
    hash_table_free(&s->ids);
    hash_table_free(&s->subscription);
    arena_free(&s->keys);
    grow_done(&s->out);
    free(s->channels);
    free(s->id_of);
    if (s->wake >= 0) {
        close(s->wake);
    }
    free(s);
}
/* ---- to the viewer */

bool foxglove_send_json(struct foxglove_socket *s, json_t *value, struct reel_error *err) {
    AUTO_MEM char *text = json_text(value);
    json_decref(value);
    return text ? websocket_send(s->ws, true, bytes_text(text), err) : reel_fail_memory(err);
}

static bool send_out(struct foxglove_socket *s, struct reel_error *err) {
    bool good =
        s->out.failed ? reel_fail_memory(err) : websocket_send(s->ws, false, bytes_of(s->out.data, s->out.size), err);
    if (s->out.capacity > REEL_SOCKET_MESSAGE_MAX) {
        grow_done(&s->out);
    }
    s->out.size = 0;
    return good;
}

bool foxglove_send_state(struct foxglove_socket *s, bool seeked, struct reel_bytes request, struct reel_error *err) {
    struct reel_play_state state = {.size = sizeof state};
    if (!s->controls || !s->play) {
        return true;
    }
    reel_play_get(s->play, &state);
    foxglove_put_state(&s->out, &state, s->ended, seeked, request);
    return send_out(s, err);
}

/* ---- channels */

/* The id of a channel for the viewer, to which a new one is announced. */
static bool offer(struct foxglove_socket *s, const struct reel_channel *c, uint32_t *id, struct reel_error *err) {
    struct grow key = {0};
    grow_put(&key, c->name, strlen(c->name) + 1);
    grow_put(&key, c->type, strlen(c->type) + 1);
    grow_put(&key, c->encoding, strlen(c->encoding) + 1);
    AUTO_MEM uint8_t *owned = key.data;
    size_t known = key.failed ? 0 : hash_table_get(&s->ids, hash_key_bytes(bytes_of(key.data, key.size)));
    *id = (uint32_t)known - 1;
    if (known > 0) {
        return true;
    }
    *id = (uint32_t)s->n_channels;
    const void *copy = key.failed ? NULL : arena_copy(&s->keys, key.data, key.size);
    if (!copy || !GROW_ARRAY(s->channels, s->n_channels, s->room)) {
        return reel_fail_memory(err);
    }
    s->channels[s->n_channels++] = (struct offered){.subscribed = false};
    return hash_table_set(&s->ids, hash_key_bytes(bytes_of(copy, key.size)), (uintptr_t)*id + 1, err) &&
           foxglove_send_json(s, foxglove_advertise(*id, c), err);
}

/* Channels without a name are those that the playback may need for states. */
static bool id_at(struct foxglove_socket *s, uint32_t position, uint32_t *id, struct reel_error *err) {
    *id = s->id_of[position] - 1;
    if (s->id_of[position] == 0) {
        if (!offer(s, s->stream->channels[position], id, err)) {
            return false;
        }
        s->id_of[position] = *id + 1;
    }
    return true;
}

bool foxglove_offer_all(struct foxglove_socket *s, struct reel_error *err) {
    uint32_t id;
    free(s->id_of);
    if (!(s->id_of = calloc((size_t)s->stream->n_channels + 1, sizeof *s->id_of))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < s->stream->n_channels; i++) {
        if (s->stream->channels[i]->name[0] && !id_at(s, i, &id, err)) {
            return false;
        }
    }
    return true;
}

/* ---- messages */

static bool send_clock(struct foxglove_socket *s, int64_t time_ns, struct reel_error *err) {
    int64_t now = clock_ns();
    if (now - s->clock_ns < CLOCK_NS) {
        return true;
    }
    s->clock_ns = now;
    foxglove_put_time(&s->out, time_ns);
    return send_out(s, err);
}

static bool send_message(struct foxglove_socket *s, const struct reel_message *m, struct reel_error *err) {
    struct reel_bytes payload;
    uint32_t id;
    if (!id_at(s, m->channel, &id, err) || !send_clock(s, m->time_ns, err)) {
        return false;
    }
    if (!s->channels[id].subscribed) {
        return true;
    }
    if (!reel_stream_payload(s->stream, m, &payload, err)) {
        return false;
    }
    foxglove_put_message(&s->out, s->channels[id].subscription, m->time_ns, payload);
    return send_out(s, err);
}

/* Whether this message is from another position than the one before. */
static bool foxglove_has_moved(const struct foxglove_socket *s, const struct reel_message *m) {
    return s->any && (m->time_ns < s->last_ns || (m->before_start && !s->last_state));
}

bool foxglove_send_next(struct foxglove_socket *s, struct reel_error *err) {
    const struct reel_message *m;
    enum reel_step step =
        play_memory_resume(&s->memory, s->r, err) ? reel_stream_next(s->stream, &m, err) : REEL_STEP_ERROR;
    s->ended = step == REEL_STEP_END;
    if (step != REEL_STEP_MESSAGE) {
        return s->ended && foxglove_send_state(s, false, bytes_of("", 0), err);
    }
    bool moved = foxglove_has_moved(s, m), announced = s->announced;
    s->announced = false;
    s->any = true;
    s->last_state = m->before_start;
    s->last_ns = m->time_ns;
    return (!moved || announced || foxglove_send_state(s, true, bytes_of("", 0), err)) && send_message(s, m, err);
}
