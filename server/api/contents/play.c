/* /play: messages leave when they are due; /plays/{id}: where a running playback is, and its controls. */
#include "api/contents/plays.h"

#include <math.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/contents/contents.h"
#include "api/export/inputs.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "api/selection.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/number.h"
#include "formats/carla/follow.h"
#include "http/json_text.h"
#include "peers/peers.h"
#include "play/play.h"
#include "views/views.h"

static const double SPEED_MIN = 0.01, SPEED_MAX = 100, RATE_MAX = 100000, CLOCK_MAX = 10000;
static const uint64_t LATE_NS = 10000000;        /* that is worth a row */
static const int64_t LATE_EVERY_NS = 1000000000; /* at most one such row in this time */
static const int64_t LOOK_NS = 500000000;        /* how often a silent playback looks after its client */
static const int64_t HEARTBEAT_NS = 15000000000; /* after this silence a row tells where it is; proxies cut silent
                                                    connections */

struct play_media {
    const char *output, *media_type, *extension;
};
static const struct play_media medias[] = {{"ndjson", "application/x-ndjson", ".ndjson"},
                                           {"events", "text/event-stream", ".events"},
                                           {"msgpack", "application/msgpack", ".msgpack"}};

/* One response. */
struct player {
    struct http_request *r;
    const struct play_media *media;
    struct api_selection q;
    struct reel_play *play;
    struct plays *plays; /* the request ends before its stream is freed */
    struct play_entry *entry;
    struct reel_stream *stream; /* belongs to the rows */
    struct reel_row_output *rows;
    char *row; /* one of our own, that is being sent */
    size_t row_size, row_at;
    bool began;
    int64_t told_ns; /* when the last row of lateness was made */
    int64_t sent_ns; /* when the last row of any kind was */
    bool was_paused; /* when has_paused() was called last */
    struct play_memory memory;
};

/* ---- rows of our own: {"$play": …} */

static void play_pack(msgpack_packer *to, const json_t *value) {
    const char *key;
    json_t *member;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        msgpack_pack_map(to, json_object_size(value));
        json_object_foreach((json_t *)value, key, member) {
            msgpack_pack_str_with_body(to, key, strlen(key));
            play_pack(to, member);
        }
        break;
    case JSON_STRING:
        msgpack_pack_str_with_body(to, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        msgpack_pack_int64(to, json_integer_value(value));
        break;
    case JSON_REAL:
        msgpack_pack_double(to, json_real_value(value));
        break;
    case JSON_TRUE:
        msgpack_pack_true(to);
        break;
    case JSON_FALSE:
        msgpack_pack_false(to);
        break;
    default:
        msgpack_pack_nil(to);
        break;
    }
}

/* Takes the reference to `value`. */
static bool play_make_row(struct player *p, const char *name, json_t *value, struct reel_error *err) {
    json_t *row = json_pack("{s:o}", name, value);
    free(TAKE(p->row));
    p->row_at = p->row_size = 0;
    if (row && strcmp(p->media->output, "msgpack") == 0) {
        msgpack_sbuffer packed;
        msgpack_sbuffer_init(&packed);
        msgpack_packer to;
        msgpack_packer_init(&to, &packed, msgpack_sbuffer_write);
        play_pack(&to, row);
        p->row_size = packed.size;
        p->row = msgpack_sbuffer_release(&packed);
    } else if (row) {
        AUTO_MEM char *text = json_text(row);
        bool events = strcmp(p->media->output, "events") == 0;
        int size = text ? asprintf(&p->row, events ? "event: %s\ndata: %s\n\n" : "%.0s%s\n", name + 1, text) : -1;
        p->row = size < 0 ? NULL : p->row;
        p->row_size = size < 0 ? 0 : (size_t)size;
    }
    json_decref(row);
    return p->row || reel_fail_memory(err);
}

static json_t *view_play(const struct play_entry *entry) {
    struct reel_play_state s = {.size = sizeof s};
    reel_play_get(entry->play, &s);
    return json_pack(
        "{s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:I, s:f}", "id", entry->id, "recording", entry->recording, "paused",
        s.paused, "loop", s.loop, "speed", s.speed > 0 ? json_real(s.speed) : json_string("max"), "start",
        view_time(s.start_ns, entry->clock), "end", view_time(s.end_ns, entry->clock), "position",
        view_time(s.position_ns, entry->clock), "messages", (json_int_t)s.messages, "late_ms", (double)s.late_ns / 1e6);
}

/* ---- the stream */

/* Falling behind is not hidden. */
static bool tell_late(struct player *p, struct reel_error *err) {
    struct reel_play_state s = {.size = sizeof s};
    reel_play_get(p->play, &s);
    int64_t now = clock_ns();
    if (s.late_ns < LATE_NS || now - p->told_ns < LATE_EVERY_NS) {
        return true;
    }
    p->told_ns = now;
    return play_make_row(
        p, "$late", json_pack("{s:f, s:I}", "late_ms", (double)s.late_ns / 1e6, "messages", (json_int_t)s.messages),
        err);
}

static void send_row(struct player *p, void *buffer, size_t size, size_t *got) {
    *got = p->row_size - p->row_at < size ? p->row_size - p->row_at : size;
    memcpy(buffer, p->row + p->row_at, *got);
    p->row_at += *got;
}

void play_memory_rest(struct play_memory *m, struct http_request *r) {
    const uint64_t held = http_held(r);
    if (m->lacking == 0) {
        http_give_back(r, m->unused);
        m->lacking = held - http_held(r);
    }
}

bool play_memory_resume(struct play_memory *m, struct http_request *r, struct reel_error *err) {
    uint64_t bytes = m->lacking;
    m->lacking = 0;
    return bytes == 0 || http_hold(r, bytes, err);
}

/* Whether it has paused since it was asked last. */
static bool has_paused(struct player *p) {
    struct reel_play_state s = {.size = sizeof s};
    reel_play_get(p->play, &s);
    bool paused = s.paused && !p->was_paused;
    p->was_paused = s.paused;
    return paused;
}

/* Waits until a message is due, or until a row is that tells where it is: `heartbeat`. False: the client has left, or
 * the server stops. */
static bool wait_for_message(struct player *p, bool *heartbeat, struct reel_error *err) {
    *heartbeat = false;
    if (reel_play_wait(p->stream, p->memory.lacking > 0 ? 0 : PLAY_IDLE_NS)) {
        return true;
    }
    if (p->memory.lacking == 0) {
        reel_row_output_rest(p->rows);
        play_memory_rest(&p->memory, p->r);
    }
    *heartbeat = has_paused(p);
    while (!*heartbeat && !reel_play_wait(p->stream, LOOK_NS)) {
        if (http_stream_ending(p->r, false) != HTTP_GOES_ON) {
            return reel_fail(err, REEL_CANCELLED, "the playback was stopped");
        }
        *heartbeat = clock_ns() - p->sent_ns >= HEARTBEAT_NS || has_paused(p);
    }
    return true;
}

static bool play_next_rows(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct player *p = context;
    bool heartbeat = !p->began;
    *got = 0;
    p->began = true;
    if (p->row_at == p->row_size) {
        if (!heartbeat && !wait_for_message(p, &heartbeat, err)) {
            return http_is_gone(p->r); /* a client that goes away ends the playback: no failure */
        }
        if (heartbeat && !play_make_row(p, "$play", view_play(p->entry), err)) {
            return false;
        }
    }
    p->sent_ns = clock_ns();
    if (p->row_at < p->row_size) {
        send_row(p, buffer, size, got);
        return true;
    }
    return play_memory_resume(&p->memory, p->r, err) && reel_row_output_next(p->rows, buffer, size, got, err) &&
           tell_late(p, err);
}

static void player_free(void *context) {
    struct player *p = context;
    plays_remove(p->plays, p->entry);
    reel_row_output_free(p->rows);
    reel_play_free(p->play);
    free(p->row);
    free(p);
}

/* ---- parameters */

/* A number in [min, max]; false: replied. */
static bool contents_play_read_number(struct http_request *r, const char *name, double min, double max, double *out) {
    const char *text = http_param(r, name);
    double value = 0;
    if (text && !(number_real(text, &value) && value >= min && value <= max)) {
        http_reply_bad_param(r, name, "a number from %g to %g", min, max);
        return false;
    }
    *out = text ? value : *out;
    return true;
}

bool plays_read_options(struct http_request *r, struct reel_play_options *out,
                        const char *pause_topics[PLAY_PAUSE_TOPICS_MAX]) {
    const char *speed = http_param(r, "speed");
    if (speed && strcmp(speed, "max") == 0) {
        out->speed = 0;
    } else if (!contents_play_read_number(r, "speed", SPEED_MIN, SPEED_MAX, &out->speed)) {
        return false;
    }
    http_param_bool(r, "loop", &out->loop);
    http_param_bool(r, "paused", &out->paused);
    http_param_bool(r, "latch", &out->latch);
    http_param_duration(r, "max_gap", &out->max_gap_ns);
    out->n_pause_topics = (uint32_t)http_params(r, "pause_topic", pause_topics, PLAY_PAUSE_TOPICS_MAX);
    out->pause_topics = pause_topics;
    return contents_play_read_number(r, "rate", SPEED_MIN, RATE_MAX, &out->rate) &&
           contents_play_read_number(r, "clock", SPEED_MIN, CLOCK_MAX, &out->clock_hz);
}

static const struct play_media *choose_media(struct http_request *r) {
    static const char *const offers[] = {"application/x-ndjson", "text/event-stream", "application/msgpack", NULL};
    const char *output = http_param(r, "output"), *media = output ? NULL : http_negotiate(r, offers);
    for (size_t i = 0; i < sizeof medias / sizeof *medias; i++) {
        if (output ? strcmp(medias[i].output, output) == 0 : media && strcmp(medias[i].media_type, media) == 0) {
            return &medias[i];
        }
    }
    http_reply_problem(r, 406, "not-acceptable",
                       "playback is available as application/x-ndjson, text/event-stream or application/msgpack");
    return NULL;
}

/* ---- GET /recordings/{id}/play, /merge/play */

/* What is played: one recording, or several as one. */
struct played {
    const struct catalog_recording *row; /* of the first */
    struct reel_recording *const *recordings;
    uint32_t n;
    const struct reel_source_option *sources; /* NULL: one */
    const char *const *ids;                   /* NULL: rows do not name it */
    enum reel_prefixing prefixing;
    int64_t start_ns, end_ns; /* of the messages */
};

/* The stream of the selection, through the controls. */
static bool contents_play_open_stream(struct player *p, const struct played *in, bool latch, struct reel_error *err) {
    struct reel_selection *s = &p->q.selection;
    s->sources = in->sources;
    s->prefixing = in->prefixing;
    s->state_at_cut = p->q.has_start;
    s->last_per_topic = s->last_per_topic || (latch && p->q.has_start);
    int64_t start = p->q.has_start && s->start_ns > in->start_ns ? s->start_ns : in->start_ns;
    int64_t end = s->end_ns < in->end_ns ? s->end_ns : in->end_ns;
    return (p->stream = reel_play_stream(p->play, in->recordings, in->n, s, start, end > start ? end : start, err));
}

/* Of several recordings the clock is a wall clock if one of them has one. */
static enum reel_clock clock_of(const struct reel_stream *stream) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        if (stream->clocks[i] == REEL_CLOCK_WALL) {
            return REEL_CLOCK_WALL;
        }
    }
    return REEL_CLOCK_RELATIVE;
}

static bool play_start(struct player *p, const struct played *in, const struct reel_writer *writer,
                       const struct reel_play_options *options, struct reel_write_options *write,
                       struct reel_error *err) {
    uint64_t actor = 0;
    bool follows = http_param_u64(p->r, "actor", &actor) || http_param_u64(p->r, "follow", &actor);
    if ((follows && !reel_carla_has_actor(in->recordings[0], (uint32_t)actor, err)) ||
        !(p->play = reel_play_new(options, err))) {
        return false;
    }
    if (follows) {
        play_through(p->play, reel_carla_follow, (uint32_t)actor);
    }
    return contents_play_open_stream(p, in, options->latch, err) &&
           (p->rows = reel_row_output_new(writer, write, p->stream, err)) &&
           (p->entry = plays_add(p->plays, http_app(p->r)->id, in->row, p->play, clock_of(p->stream), err));
}

static void reply_play(struct http_request *r, const struct played *in, const struct play_media *media) {
    AUTO_STRUCT(api_text_done) struct api_text text = {0};
    struct player *p = calloc(1, sizeof *p);
    struct reel_play_options options = reel_play_defaults();
    const char *pause_topics[PLAY_PAUSE_TOPICS_MAX];
    struct reel_write_options write = {.prompt = true, .source_ids = in->ids};
    struct reel_error err = {0};
    const struct reel_writer *writer = reel_writer_named(media->extension, NULL, &err);
    if (!p || !writer) {
        p ? http_reply_error(r, &err) : http_reply_no_memory(r);
        free(p);
        return;
    }
    p->r = r;
    p->plays = http_app(r)->plays;
    p->was_paused = true; /* the first row says so */
    p->memory.unused = api_idle_memory(in->recordings[0], false);
    p->media = media;
    bool good = plays_read_options(r, &options, pause_topics) && api_select(r, in->start_ns, in->end_ns, &p->q) &&
                api_read_text(r, writer, &text, &write);
    if (good) {
        p->q.selection.sources = in->sources;
        p->q.selection.prefixing = in->prefixing;
        good = api_note_matches(r, in->recordings, in->n, &p->q.selection);
    }
    if (good) {
        write.separated = true;
        write.is_cut = p->q.has_start;
        write.start_ns = p->q.has_start ? p->q.selection.start_ns : in->start_ns;
        good = play_start(p, in, writer, &options, &write, &err);
        if (!good) {
            http_reply_error(r, &err);
        }
    }
    if (!good) {
        player_free(p);
        return;
    }
    http_add_header(r, "X-Play", p->entry->id);
    http_add_header(r, "Cache-Control", "no-store");
    http_reply_stream(
        r,
        &(struct http_stream){
            .media_type = media->media_type, .next = play_next_rows, .free = player_free, .context = p, .lasts = true});
}

void api_play(struct http_request *r) {
    struct api_recording a;
    const struct play_media *media = choose_media(r);
    if (media && api_open_messages(r, &a)) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(a.recording));
        reply_play(
            r,
            &(struct played){
                .row = &a.row, .recordings = &a.recording, .n = 1, .start_ns = info->start_ns, .end_ns = info->end_ns},
            media);
        api_recording_done(&a);
    }
}

void api_merge_play(struct http_request *r) {
    const struct play_media *media = choose_media(r);
    AUTO(inputs_free) struct inputs *in = media ? inputs_merged(r, "") : NULL;
    if (!in || !api_reserve_stream(r, in->recordings, in->n, API_DECODES, 0)) {
        return;
    }
    struct played played = {.row = &in->items[0].row,
                            .recordings = in->recordings,
                            .n = in->n,
                            .sources = in->sources,
                            .ids = in->ids,
                            .prefixing = inputs_prefixing(r, in)};
    reel_merge_span(in->recordings, in->n, in->sources, &played.start_ns, &played.end_ns);
    reply_play(r, &played, media);
}

/* ---- /plays/{id} */

static bool play_find(struct http_request *r, struct play_entry *out) {
    const char *id = http_segment(r, "id"), *home = play_home(id);
    if (peers_is_other(http_app(r), home) && peers_forward(r, home, false, 0)) {
        return false;
    }
    bool found = plays_find(http_app(r)->plays, id, out);
    if (found && (!out->collection || !http_caller_sees(http_caller(r), out->collection))) {
        play_entry_done(out);
        found = false;
    }
    if (!found) {
        http_reply_problem(r, 404, "not-found", "there is no playback %s; it ends with its connection", id);
    }
    return found;
}

void api_play_get(struct http_request *r) {
    struct play_entry entry;
    if (play_find(r, &entry)) {
        http_reply_json(r, 200, view_play(&entry));
        play_entry_done(&entry);
    }
}

static bool read_bool(struct http_request *r, const json_t *body, const char *name, unsigned flag,
                      struct reel_play_change *c, bool *out) {
    const json_t *value = json_object_get(body, name);
    if (value && !json_is_boolean(value)) {
        body_refuse(r, name, "true or false");
        return false;
    }
    *out = json_is_true(value);
    c->set |= value ? flag : 0;
    return true;
}

static bool read_speed(struct http_request *r, const json_t *value, struct reel_play_change *c) {
    bool max = json_is_string(value) && strcmp(json_string_value(value), "max") == 0;
    c->speed = json_number_value(value);
    if (value && !max && !(json_is_number(value) && c->speed >= SPEED_MIN && c->speed <= SPEED_MAX)) {
        body_refuse(r, "speed", "a number from %g to %g, or \"max\"", SPEED_MIN, SPEED_MAX);
        return false;
    }
    c->set |= value ? REEL_PLAY_SPEED : 0;
    return true;
}

/* Any time that start= takes: RFC 3339, ns, "+2.5s" from the start, "-2.5s" from the end. */
static bool read_position(struct http_request *r, const json_t *value, const struct reel_play_state *s,
                          struct reel_play_change *c) {
    struct reel_time time;
    char text[32] = "";
    if (!value) {
        return true;
    }
    if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    }
    struct reel_error err = {0};
    const char *given = json_is_string(value) ? json_string_value(value) : text;
    bool good = given[0] && reel_time_parse(given, 1, &time, &err);
    c->position_ns = good ? reel_time_resolve(&time, s->start_ns, s->end_ns, reel_now_ns()) : 0;
    if (!good || c->position_ns < s->start_ns || c->position_ns > s->end_ns) {
        body_refuse(r, "position",
                    "a time between start and end of what is played: RFC 3339, ns, \"+2.5s\" from the start, \"-2.5s\" "
                    "from the end");
        return false;
    }
    c->set |= REEL_PLAY_POSITION;
    return true;
}

void api_play_patch(struct http_request *r) {
    static const char *const known[] = {"paused", "speed", "position", "loop", NULL};
    struct play_entry entry;
    struct reel_play_change change = {.size = sizeof change};
    struct reel_play_state state = {.size = sizeof state};
    struct reel_error err = {0};
    const json_t *body = body_json(r);
    if (!body || !body_knows(r, body, known) || !play_find(r, &entry)) {
        return;
    }
    reel_play_get(entry.play, &state);
    if (read_bool(r, body, "paused", REEL_PLAY_PAUSED, &change, &change.paused) &&
        read_bool(r, body, "loop", REEL_PLAY_LOOP, &change, &change.loop) &&
        read_speed(r, json_object_get(body, "speed"), &change) &&
        read_position(r, json_object_get(body, "position"), &state, &change)) {
        if (reel_play_set(entry.play, &change, &err)) {
            http_reply_json(r, 200, view_play(&entry));
        } else {
            http_reply_error(r, &err);
        }
    }
    play_entry_done(&entry);
}
