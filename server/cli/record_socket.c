/* See record_socket.h. */
#include "cli/record_socket.h"

#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "cli/push_http.h"
#include "live/nanover_record.h"
#include "live/websocket_client.h"
#include "reel/time.h"

static const int64_t SYNC_NS = 1000000000, FLUSH_NS = 200000000;

bool record_is_socket(const char *text) {
    return ascii_ncasecmp(text, "ws://", 5) == 0 || ascii_ncasecmp(text, "wss://", 6) == 0;
}

struct record_socket {
    struct record_socket_options options;
    char token[PUSH_TOKEN_MAX];
    struct websocket_client *client;
};

void record_socket_free(struct record_socket *s) {
    if (s) {
        websocket_client_free(s->client);
        free(s);
    }
}

static bool goes_on(void *context) {
    return ((const struct record_socket *)context)->options.go_on();
}

struct record_socket *record_socket_open(const struct record_socket_options *o, struct reel_error *err) {
    AUTO(record_socket_free) struct record_socket *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    s->options = *o;
    if (o->token_file && !push_http_token(o->token_file, s->token, err)) {
        return NULL;
    }
    const struct websocket_client_options options = {
        .url = o->url, .token = s->token, .message_max = REEL_SOCKET_RECORDED_MAX, .goes_on = goes_on, .context = s};
    s->client = websocket_client_open(&options, err);
    return s->client ? TAKE(s) : NULL;
}

/* ---- into a file */

/* Where the messages go, one of the two. */
struct socket_recording {
    const struct record_socket_options *options;
    struct reel_recorder *recorder;
    struct reel_rows *rows;
    struct record_spool *spool;
    struct hash_table declared; /* names of the channels that the spool has */
    struct arena names;
    int64_t start_ns, synced_ns, flushed_ns;
    uint64_t messages, others; /* others: no message of NanoVer, dropped */
};

static void socket_recording_done(struct socket_recording *r) {
    reel_rows_free(r->rows);
    hash_table_free(&r->declared);
    arena_free(&r->names);
}

static bool record_into_file(struct socket_recording *r, struct reel_bytes message, struct reel_error *err) {
    int64_t log_ns = r->options->from_zero ? clock_ns() - r->start_ns : reel_now_ns();
    bool is_nanover;
    bool good = nanover_record(r->recorder, r->rows, message, log_ns, &is_nanover, err);
    r->messages += is_nanover;
    r->others += !is_nanover;
    return good;
}

/* So that what was received survives the end of the program, and once a second a power failure. */
static bool record_save(struct socket_recording *r, struct reel_error *err) {
    int64_t now = clock_ns();
    if (!r->recorder) {
        return true; /* the spool does so */
    }
    if (now - r->synced_ns >= SYNC_NS) {
        r->synced_ns = r->flushed_ns = now;
        return reel_recorder_sync(r->recorder, err);
    }
    if (now - r->flushed_ns >= FLUSH_NS) {
        r->flushed_ns = now;
        return reel_recorder_flush(r->recorder, err);
    }
    return true;
}

/* ---- to a server: rows of MessagePack */

static void pack_text(msgpack_packer *to, const char *text) {
    msgpack_pack_str_with_body(to, text, strlen(text));
}

static void pack_channel(msgpack_packer *to, const struct reel_channel *c) {
    msgpack_pack_map(to, 1);
    pack_text(to, "$channel");
    msgpack_pack_map(to, 4);
    pack_text(to, "topic");
    pack_text(to, c->name);
    pack_text(to, "type");
    pack_text(to, c->type);
    pack_text(to, "encoding");
    pack_text(to, c->encoding);
    pack_text(to, "topics");
    msgpack_pack_array(to, c->n_topics);
    for (uint32_t i = 0; i < c->n_topics; i++) {
        pack_text(to, c->topics[i]);
    }
}

static void pack_message(msgpack_packer *to, const char *topic, struct reel_bytes message) {
    msgpack_pack_map(to, 3);
    pack_text(to, "topic");
    pack_text(to, topic);
    pack_text(to, "log_time");
    msgpack_pack_int64(to, reel_now_ns());
    pack_text(to, "data");
    msgpack_pack_bin_with_body(to, message.data, message.size);
}

static bool send_rows(struct socket_recording *r, const struct reel_channel *channel, struct reel_bytes message,
                      struct reel_error *err) {
    const struct hash_key key = hash_key_bytes(bytes_text(channel->name));
    msgpack_sbuffer rows;
    msgpack_packer to;
    msgpack_sbuffer_init(&rows);
    msgpack_packer_init(&to, &rows, msgpack_sbuffer_write);
    bool declares = hash_table_get(&r->declared, key) == 0;
    if (declares) {
        pack_channel(&to, channel);
    }
    pack_message(&to, channel->name, message);
    bool good = (rows.size > message.size || reel_fail_memory(err)) &&
                record_spool_append(r->spool, bytes_of(rows.data, rows.size), err);
    msgpack_sbuffer_destroy(&rows);
    const char *name = good && declares ? arena_text(&r->names, channel->name) : NULL;
    return good && (!declares || ((name || reel_fail_memory(err)) &&
                                  hash_table_set(&r->declared, hash_key_bytes(bytes_text(name)), 1, err)));
}

static bool record_to_server(struct socket_recording *r, struct reel_bytes message, struct reel_error *err) {
    struct arena arena = {.max = NANOVER_RECORD_CHANNEL_MAX};
    struct reel_channel channel;
    bool is_nanover;
    bool good = nanover_record_channel(&arena, message, &channel, &is_nanover, err) &&
                (!is_nanover || send_rows(r, &channel, message, err));
    arena_free(&arena);
    r->messages += good && is_nanover;
    r->others += good && !is_nanover;
    return good;
}

/* ---- both */

static bool record_all(struct socket_recording *r, struct websocket_client *client, struct reel_error *err) {
    struct websocket *ws = websocket_client_socket(client);
    struct websocket_message m;
    enum websocket_got got;
    while ((got = websocket_wait(ws, -1, clock_ns() + FLUSH_NS, &m)) != WEBSOCKET_OVER) {
        bool good =
            got != WEBSOCKET_MESSAGE || m.text || (r->spool ? record_to_server : record_into_file)(r, m.bytes, err);
        if (!good || !record_save(r, err)) {
            return false;
        }
    }
    return !r->options->go_on() || websocket_client_ended(client, err);
}

bool record_socket_run(struct record_socket *s, const struct record_socket_output *to, uint64_t *messages,
                       struct reel_error *err) {
    AUTO_STRUCT(socket_recording_done)
    struct socket_recording r = {
        .options = &s->options, .recorder = to->recorder, .spool = to->spool, .start_ns = clock_ns()};
    bool good = (!to->recorder || (r.rows = reel_rows_new(to->recorder, err))) && record_all(&r, s->client, err);
    websocket_close(websocket_client_socket(s->client), good ? WEBSOCKET_NORMAL : WEBSOCKET_INTERNAL, "");
    if (r.others > 0) {
        fprintf(stderr, "reel record: %llu messages were not NanoVer's and are not recorded\n",
                (unsigned long long)r.others);
    }
    *messages = r.messages;
    return good;
}
