/* /ws/recordings/{id}: a recording for Foxglove and compatible viewers, by WebSocket: played, with the viewer's
 * controls, or followed while it grows. A viewer subscribes to channels and gets the last message of each first. */
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "api/contents/foxglove_message.h"
#include "api/contents/foxglove_viewer.h"
#include "api/reserve.h"
#include "app.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limits.h"
#include "live/live.h"
#include "play/play.h"
#include "stream/view.h"

enum { SUBSCRIPTIONS_SPARE = 1024 };
static const int64_t FOLLOW_NS = 20000000;    /* how often it looks for new messages of a live recording */
static const int64_t LOOP_MIN_NS = 100000000; /* what is shorter is not repeated */
static const int64_t OPEN_WAIT_NS = 500000000;
static const double SPEED_MIN = 0.01, SPEED_MAX = 100;

/* ---- from the viewer */

static bool note_subscription(struct foxglove_socket *s, uint32_t number, uint32_t id, struct reel_error *err) {
    if (s->subscription.count > 2 * s->n_channels + SUBSCRIPTIONS_SPARE) { /* most are over */
        hash_table_free(&s->subscription);
        for (uint32_t i = 0; i < s->n_channels; i++) {
            if (s->channels[i].subscribed &&
                !hash_table_set(&s->subscription, hash_key_number(s->channels[i].subscription), (uintptr_t)i + 1,
                                err)) {
                return false;
            }
        }
    }
    s->channels[id] = (struct offered){.subscription = number, .subscribed = true};
    s->latest = true;
    return hash_table_set(&s->subscription, hash_key_number(number), (uintptr_t)id + 1, err);
}

static bool on_subscribe(struct foxglove_socket *s, const json_t *list, struct reel_error *err) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        const json_t *number = json_object_get(one, "id"), *channel = json_object_get(one, "channelId");
        json_int_t id = json_integer_value(channel), n = json_integer_value(number);
        if (json_is_integer(number) && json_is_integer(channel) && id >= 0 && (size_t)id < s->n_channels && n >= 0 &&
            n <= UINT32_MAX && !note_subscription(s, (uint32_t)n, (uint32_t)id, err)) {
            return false;
        }
    }
    return true;
}

static void on_unsubscribe(struct foxglove_socket *s, const json_t *list) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        uint32_t number = (uint32_t)json_integer_value(one);
        size_t id = hash_table_get(&s->subscription, hash_key_number(number));
        if (id > 0 && s->channels[id - 1].subscription == number) {
            s->channels[id - 1].subscribed = false;
        }
    }
}

static bool on_text(struct foxglove_socket *s, struct reel_bytes text, struct reel_error *err) {
    json_auto_t *message = json_loadb((const char *)text.data, text.size, 0, NULL);
    const char *op = json_string_value(json_object_get(message, "op"));
    if (op && strcmp(op, "subscribe") == 0) {
        return on_subscribe(s, json_object_get(message, "subscriptions"), err);
    }
    if (op && strcmp(op, "unsubscribe") == 0) {
        on_unsubscribe(s, json_object_get(message, "subscriptionIds"));
        return true;
    }
    return foxglove_send_json(s, foxglove_status(1, "only subscribe and unsubscribe are answered"), err);
}

static int64_t within(int64_t ns, const struct reel_play_state *state) {
    return ns < state->start_ns ? state->start_ns : ns > state->end_ns ? state->end_ns : ns;
}

/* Changes the controls: the viewer knows of it. */
static bool set_own(struct foxglove_socket *s, const struct reel_play_change *change, struct reel_error *err) {
    bool good = reel_play_set(s->play, change, err);
    s->own_changes += good;
    return good;
}

static bool on_control(struct foxglove_socket *s, struct reel_bytes message, struct reel_error *err) {
    struct foxglove_control c;
    struct reel_play_state state = {.size = sizeof state};
    if (!s->play || !s->controls || !foxglove_read_control(message, &c)) {
        return true;
    }
    reel_play_get(s->play, &state);
    bool speed = c.speed >= (float)SPEED_MIN && c.speed <= (float)SPEED_MAX;
    const struct reel_play_change change = {.size = sizeof change,
                                            .set = REEL_PLAY_PAUSED | (speed ? REEL_PLAY_SPEED : 0) |
                                                   (c.seeks ? REEL_PLAY_POSITION : 0),
                                            .paused = c.paused,
                                            .speed = (double)c.speed,
                                            .position_ns = within(c.position_ns, &state)};
    s->ended = s->ended && !c.seeks;
    s->announced = c.seeks;
    return set_own(s, &change, err) && foxglove_send_state(s, c.seeks, c.request, err);
}

static bool foxglove_on_message(struct foxglove_socket *s, const struct websocket_message *m, struct reel_error *err) {
    return m->text ? on_text(s, m->bytes, err) : on_control(s, m->bytes, err);
}

/* ---- playback */

static bool begin_playback(struct foxglove_socket *s, const struct reel_play_options *options, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(s->a.recording));
    struct reel_selection *q = &s->q.selection;
    int64_t start = s->q.has_start && q->start_ns > info->start_ns ? q->start_ns : info->start_ns;
    int64_t end = q->end_ns < info->end_ns ? q->end_ns : info->end_ns;
    q->state_at_cut = q->last_per_topic = s->q.has_start;
    if (!(s->play = reel_play_new(options, err))) {
        return false;
    }
    s->memory.unused = api_idle_memory(s->a.recording, false);
    play_wake(s->play, s->wake);
    s->stream = reel_play_stream(s->play, &s->a.recording, 1, q, start, end > start ? end : start, err);
    s->entry = s->stream ? plays_add(s->app->plays, s->app->id, &s->a.row, s->play, info->clock, err) : NULL;
    return s->entry;
}

/* The last message of each channel comes with any new position: so it is the one where it is. */
static bool send_latest(struct foxglove_socket *s, struct reel_error *err) {
    struct reel_play_state state = {.size = sizeof state};
    reel_play_get(s->play, &state);
    s->latest = false;
    s->ended = false;
    s->announced = true;
    return set_own(s,
                   &(struct reel_play_change){.size = sizeof(struct reel_play_change),
                                              .set = REEL_PLAY_POSITION,
                                              .position_ns = within(state.position_ns, &state)},
                   err);
}

/* Without a pause, and to a viewer that subscribes to nothing, a loop would never wait. */
static bool may_loop(double speed, int64_t start_ns, int64_t end_ns) {
    return speed > 0 && end_ns - start_ns >= LOOP_MIN_NS;
}

/* After a change by others. */
static bool on_change(struct foxglove_socket *s, struct reel_error *err) {
    struct reel_play_state state = {.size = sizeof state};
    reel_play_get(s->play, &state);
    bool stays = !state.loop || may_loop(state.speed, state.start_ns, state.end_ns);
    return (stays ||
            set_own(s, &(struct reel_play_change){.size = sizeof(struct reel_play_change), .set = REEL_PLAY_LOOP},
                    err)) &&
           foxglove_send_state(s, false, bytes_of("", 0), err);
}

static bool run_playback(struct foxglove_socket *s, struct reel_error *err) {
    struct websocket_message message;
    for (;;) {
        int64_t due_ns = s->latest ? 0 : s->ended ? INT64_MAX : play_due(s->stream);
        if (due_ns > clock_ns() + PLAY_IDLE_NS && s->memory.lacking == 0) {
            play_rest(s->stream);
            play_memory_rest(&s->memory, s->r);
        }
        enum websocket_got got = websocket_wait(s->ws, s->wake, due_ns, &message);
        eventfd_t changes = 0;
        bool changed = got == WEBSOCKET_QUIET && eventfd_read(s->wake, &changes) == 0;
        bool by_others = changes > s->own_changes;
        s->ended = s->ended && !changed;
        s->own_changes = changed ? 0 : s->own_changes;
        if (got == WEBSOCKET_OVER) {
            return true;
        }
        bool good = got == WEBSOCKET_MESSAGE ? foxglove_on_message(s, &message, err)
                    : changed                ? !by_others || on_change(s, err)
                    : s->latest              ? send_latest(s, err)
                    : due_ns <= clock_ns()   ? foxglove_send_next(s, err)
                                             : true;
        if (!good) {
            return false;
        }
    }
}

/* ---- a live recording */

/* Of a stream of the recording as it is now. */
static uint64_t round_memory(const struct foxglove_socket *s) {
    return s->q.selection.view ? api_stream_memory(s->a.recording) : api_idle_memory(s->a.recording, true);
}

/* Sends the messages of a stream, as long as the connection lasts. */
static bool send_round(struct foxglove_socket *s, const struct reel_selection *selection, struct reel_error *err) {
    s->memory.lacking = s->memory.lacking > 0 ? round_memory(s) : 0; /* it has grown */
    if (!play_memory_resume(&s->memory, s->r, err)) {
        return false;
    }
    s->stream = reel_stream_open(&s->a.recording, 1, selection, err);
    if (s->stream && selection->view) {
        s->stream = selection->view->open(s->stream, &s->a.recording, 1, selection, err);
    }
    s->ended = false;
    bool good = s->stream && foxglove_offer_all(s, err);
    while (good && !s->ended) {
        good = foxglove_send_next(s, err);
    }
    reel_stream_free(TAKE(s->stream));
    s->memory.unused = round_memory(s);
    play_memory_rest(&s->memory, s->r);
    return good;
}

static void note_round(struct foxglove_socket *s) {
    const struct reel_index *index = reel_recording_index(s->a.recording);
    s->messages = reel_index_info(index)->messages;
    s->since = (struct reel_since){.bytes = reel_index_part_size(index, 0),
                                   .chunks = (uint32_t)reel_index_info(index)->n_chunks};
}

/* The recording as it is now; `again`: it could not be opened. */
static bool send_new(struct foxglove_socket *s, bool *again, struct reel_error *err) {
    struct reel_selection selection = s->q.selection;
    struct catalog_recording row;
    char job[33];
    struct reel_since since = s->since;
    if (!catalog_get(s->app->catalog, s->a.row.id, &row, err)) {
        return *again = reel_is_transient(err->code);
    }
    struct reel_recording *now = api_recording_open(s->app, &row, OPEN_WAIT_NS, job, err);
    catalog_recording_done(&row);
    if (!now) { /* it is being finished */
        return *again = err->code == REEL_BUSY || reel_is_transient(err->code);
    }
    *again = false;
    reel_recording_free(s->a.recording);
    s->a.recording = now;
    note_round(s);
    selection.since = &since;
    return send_round(s, &selection, err);
}

/* The last message of each channel, and the state. */
static bool send_present(struct foxglove_socket *s, struct reel_error *err) {
    struct reel_selection selection = s->q.selection;
    selection.start_ns = reel_index_info(reel_recording_index(s->a.recording))->end_ns + 1;
    selection.state_at_cut = selection.last_per_topic = true;
    s->latest = false;
    s->any = false;
    return send_round(s, &selection, err);
}

static bool run_following(struct foxglove_socket *s, struct reel_error *err) {
    struct websocket_message message;
    bool more, growing = true, again = false;
    note_round(s);
    for (s->latest = true;;) {
        int64_t until_ns = s->latest ? 0 : growing ? clock_ns() + FOLLOW_NS : INT64_MAX;
        enum websocket_got got = websocket_wait(s->ws, -1, until_ns, &message);
        if (got == WEBSOCKET_OVER) {
            return true;
        }
        bool good = got == WEBSOCKET_MESSAGE ? foxglove_on_message(s, &message, err)
                    : s->latest              ? send_present(s, err)
                                             : true;
        if (good && got == WEBSOCKET_QUIET && growing) {
            live_wait(s->app->live, s->a.row.id, s->messages, 0, &more, &growing);
            good = (!more && growing && !again) || send_new(s, &again, err);
            growing = growing || again; /* or its last messages would be missing */
        }
        if (!good) {
            return false;
        }
    }
}

/* ---- the conversation */

static void on_wait(void *context) {
    const struct foxglove_socket *s = context;
    if (s->play) {
        play_rest(s->stream);
    }
}

static bool foxglove_run(void *context, struct websocket *ws, struct reel_error *err) {
    struct foxglove_socket *s = context;
    const struct reel_index_info *info = reel_index_info(reel_recording_index(s->a.recording));
    struct reel_play_state state = {.size = sizeof state, .start_ns = info->start_ns, .end_ns = info->end_ns};
    s->ws = ws;
    if (s->play) {
        reel_play_get(s->play, &state);
    }
    const struct foxglove_server server = {.name = s->a.row.name,
                                           .session = s->entry ? s->entry->id : s->a.row.id,
                                           .plays = s->play && s->controls,
                                           .start_ns = state.start_ns,
                                           .end_ns = state.end_ns};
    bool good = foxglove_send_json(s, foxglove_server_info(&server), err) &&
                (!s->stream || foxglove_offer_all(s, err)) && foxglove_send_state(s, false, bytes_of("", 0), err) &&
                (s->follows ? run_following : run_playback)(s, err);
    return good || err->code == REEL_CANCELLED;
}

/* The first of ours that the client offers; NULL: replied. */
static const char *choose_protocol(struct http_request *r) {
    static const char *const ours[] = {"foxglove.sdk.v1", "foxglove.websocket.v1"};
    AUTO_MEM char *offered = http_header_lines(r, "Sec-WebSocket-Protocol");
    for (size_t i = 0; offered && i < sizeof ours / sizeof *ours; i++) {
        if (websocket_listed(offered, ours[i])) {
            return ours[i];
        }
    }
    http_reply_problem(r, 400, "bad-request", "Sec-WebSocket-Protocol must offer %s or %s.", ours[0], ours[1]);
    return NULL;
}

/* Opens the recording, and reserves the memory of its stream through the view (*view NULL: raw). False: replied. */
static bool open_viewed(struct http_request *r, struct api_recording *a, const struct reel_view **view) {
    struct reel_error err = {0};
    const char *name = http_param(r, "view");
    bool raw = name && strcmp(name, "raw") == 0;
    if (!raw && !(*view = view_named(name ? name : "foxglove", false, &err))) {
        http_reply_bad_param(r, "view", "%s", err.text);
        return false;
    }
    return api_open(r, a) && api_reserve_stream(r, &a->recording, 1, raw ? API_DECODES : API_DECODES | API_CONVERTS, 0);
}

static bool foxglove_begin(struct foxglove_socket *s, const struct reel_view *view) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(s->a.recording));
    struct reel_play_options options = reel_play_defaults();
    const char *pause_topics[PLAY_PAUSE_TOPICS_MAX];
    struct reel_error err = {0};
    http_param_bool(s->r, "follow", &s->follows);
    s->follows = s->follows && s->a.row.state == STATE_RECORDING;
    if (!plays_read_options(s->r, &options, pause_topics) || !api_select(s->r, info->start_ns, info->end_ns, &s->q)) {
        return false;
    }
    s->q.selection.view = view;
    options.latch = true;
    options.loop = options.loop && may_loop(options.speed, info->start_ns, info->end_ns);
    if (s->follows || begin_playback(s, &options, &err)) {
        return true;
    }
    http_reply_error(s->r, &err);
    return false;
}

void api_foxglove(struct http_request *r) {
    const char *protocol = http_opens_socket(r) ? choose_protocol(r) : NULL;
    AUTO(foxglove_socket_free) struct foxglove_socket *s = protocol ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        protocol ? http_reply_no_memory(r) : (void)0;
        return;
    }
    const struct reel_view *view = NULL;
    s->r = r;
    s->app = http_app(r);
    s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    s->controls = strcmp(protocol, "foxglove.sdk.v1") == 0;
    if (s->wake < 0) {
        http_reply_no_memory(r);
    } else if (open_viewed(r, &s->a, &view) && foxglove_begin(s, view)) {
        if (s->entry) {
            http_add_header(r, "X-Play", s->entry->id);
        }
        http_reply_socket(r, &(struct http_socket){.run = foxglove_run,
                                                   .waits = on_wait,
                                                   .free = foxglove_socket_free,
                                                   .context = TAKE(s),
                                                   .message_max = REEL_SOCKET_MESSAGE_MAX,
                                                   .protocol = protocol});
    }
}
