/* See nanover_shown.h. The messages of a recording are the very bytes that NanoVer's server sent, so they are sent
 * again, each when it is due. A new position begins with the frame and the state there. */
#include "api/contents/nanover_shown.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "access/access.h"
#include "api/contents/nanover_command.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limits.h"
#include "formats/nanover/current_form.h"
#include "formats/nanover/question.h"
#include "http/websocket.h"
#include "play/play.h"
#include "read/reader.h"

static const int64_t OPEN_WAIT_NS = 2000000000;
static const int64_t LOOP_MIN_NS = 100000000; /* what is shorter is not repeated: it would be sent without a pause */

/* ---- what is shown */

static void shown_done(struct nanover_socket *s, struct shown *shown) {
    plays_remove(s->app->plays, shown->entry);
    if (shown->play) {
        play_wake(shown->play, -1); /* who changes it now may still hold it when s->wake is closed */
    }
    reel_stream_free(shown->stream);
    reel_play_free(shown->play);
    reel_recording_free(shown->recording);
    catalog_recording_done(&shown->row);
    http_give_back(s->r, shown->held > shown->memory.lacking ? shown->held - shown->memory.lacking : 0);
    *shown = (struct shown){0};
}

static void list_done(struct nanover_socket *s) {
    for (size_t i = 0; i < s->n_list; i++) {
        free(s->list[i].name);
    }
    free(TAKE(s->list));
    s->n_list = 0;
}

void nanover_socket_free(void *context) {
    struct nanover_socket *s = context;
    if (s) {
        shown_done(s, &s->shown);
        list_done(s);
        if (s->wake >= 0) {
            close(s->wake);
        }
        free(s);
    }
}
static struct reel_stream *through_nanover(struct reel_stream *below, uint32_t unused, struct reel_error *err) {
    (void)unused;
    return nanover_view(below, err);
}

static bool is_nanover(const struct reel_channel *channel) {
    return strcmp(channel->encoding, NANOVER_ENCODING) == 0;
}

/* The ids of the channels that hold NanoVer's messages: *n of them; NULL: no memory. */
static uint32_t *nanover_channels(const struct reel_index *index, uint32_t *n) {
    uint32_t all = (uint32_t)reel_index_info(index)->n_channels;
    uint32_t *ids = malloc(((size_t)all + 1) * sizeof *ids);
    *n = 0;
    for (uint32_t i = 0; ids && i < all; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        if (nanover_holds(channel)) {
            ids[(*n)++] = channel->id;
        }
    }
    return ids;
}

bool nanover_begin(struct nanover_socket *s, const struct reel_time *start, struct shown *out, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(out->recording);
    const struct reel_index_info *info = reel_index_info(index);
    struct reel_selection selection = reel_select_all();
    int64_t start_ns = info->start_ns;
    if (start && !reel_time_within(start, info->start_ns, info->end_ns, &start_ns, err)) {
        return false;
    }
    AUTO_MEM uint32_t *channels = nanover_channels(index, &selection.n_channels);
    if (!channels) {
        return reel_fail_memory(err);
    }
    selection.channels = channels;
    if (selection.n_channels == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "this recording has no NanoVer messages");
    }
    selection.start_ns = start ? start_ns : selection.start_ns;
    selection.state_at_cut = start != NULL;
    struct reel_play_options options = s->options;
    options.loop = options.loop && info->end_ns - start_ns >= LOOP_MIN_NS;
    if (!(out->play = reel_play_new(&options, err))) {
        return false;
    }
    out->memory.unused = api_idle_memory(out->recording, false);
    play_wake(out->play, s->wake);
    play_through(out->play, through_nanover, 0);
    out->stream = reel_play_stream(out->play, &out->recording, 1, &selection, start_ns, info->end_ns, err);
    out->entry = out->stream ? plays_add(s->app->plays, s->app->id, &out->row, out->play, info->clock, err) : NULL;
    return out->entry;
}

/* ---- messages to the client */

bool nanover_send_packed(struct nanover_socket *s, const msgpack_sbuffer *packed, struct reel_error *err) {
    return websocket_send(s->ws, false, bytes_of(packed->data, packed->size), err);
}

bool nanover_send_clear(struct nanover_socket *s, struct reel_error *err) {
    AUTO_MEM uint8_t *state = NULL;
    size_t size = 0;
    if (!s->any) {
        return true;
    }
    struct reel_error why = {0}; /* a damaged message: what cannot be named stays, and the client goes on */
    if (!reel_nanover_moment(s->shown.recording, REEL_NANOVER_STATE, s->last_ns, &state, &size, &why) &&
        why.code == REEL_CANCELLED) {
        return reel_error_pass(err, &why);
    }
    msgpack_sbuffer packed;
    msgpack_packer to;
    msgpack_sbuffer_init(&packed);
    msgpack_packer_init(&to, &packed, msgpack_sbuffer_write);
    nanover_pack_clear(&to, bytes_of(state, size));
    bool good = nanover_send_packed(s, &packed, err);
    msgpack_sbuffer_destroy(&packed);
    s->any = s->last_state = false;
    s->frame_ns = INT64_MIN;
    return good;
}

static bool has_frames(const struct reel_channel *channel) {
    for (uint32_t i = 0; i < channel->n_topics; i++) {
        if (strcmp(channel->topics[i], "frame") == 0) {
            return true;
        }
    }
    return false;
}

static bool take_latest(void *latest_ns, const struct reel_entry *entry) {
    int64_t *latest = latest_ns;
    *latest = entry->time_ns > *latest ? entry->time_ns : *latest;
    return false;
}

/* The time of the last frame before `before_ns`; INT64_MIN: there is none. */
static bool last_frame(struct reel_reader *reader, int64_t before_ns, int64_t *time_ns, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    *time_ns = INT64_MIN;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        if (nanover_holds(channel) && has_frames(channel) &&
            !reel_reader_reverse(reader, i, before_ns, take_latest, time_ns, err)) {
            return false;
        }
    }
    return true;
}

bool nanover_frame_before(struct nanover_socket *s, int64_t *time_ns, struct reel_error *err) {
    int64_t shown_ns;
    *time_ns = INT64_MIN;
    if (!s->any) {
        return true;
    }
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(s->shown.recording, err);
    return reader && last_frame(reader, s->last_ns + !s->last_state, &shown_ns, err) &&
           last_frame(reader, shown_ns, time_ns, err);
}

/* Whether this message is from another position than the one before. */
static bool has_moved(const struct nanover_socket *s, const struct reel_message *m) {
    return s->any && (m->time_ns < s->last_ns || (m->before_start && !(s->last_state && m->time_ns == s->last_ns)));
}

static void note_sent(struct nanover_socket *s, const struct reel_message *m) {
    const struct reel_channel *channel = reel_stream_channel(s->shown.stream, m->channel);
    s->any = true;
    s->last_state = m->before_start;
    s->last_ns = m->time_ns;
    s->frame_ns = has_frames(channel) && m->time_ns > s->frame_ns ? m->time_ns : s->frame_ns;
}

bool nanover_send_next(struct nanover_socket *s, struct reel_error *err) {
    const struct reel_message *m;
    struct reel_bytes payload;
    enum reel_step step =
        play_memory_resume(&s->shown.memory, s->r, err) ? reel_stream_next(s->shown.stream, &m, err) : REEL_STEP_ERROR;
    s->ended = step == REEL_STEP_END;
    if (step != REEL_STEP_MESSAGE) {
        return s->ended;
    }
    if (!is_nanover(reel_stream_channel(s->shown.stream, m->channel))) {
        return true;
    }
    if ((has_moved(s, m) && !nanover_send_clear(s, err)) || !reel_stream_payload(s->shown.stream, m, &payload, err) ||
        !websocket_send(s->ws, false, payload, err)) {
        return false;
    }
    note_sent(s, m);
    return true;
}

/* ---- loading */

bool nanover_read_list(struct nanover_socket *s, struct reel_error *err) {
    const struct catalog_query query = {.words = http_param(s->r, "q"),
                                        .collection = http_param(s->r, "collection"),
                                        .format = "nanover",
                                        .allowed = http_caller(s->r)->collections,
                                        .has_state = true,
                                        .state = STATE_READY,
                                        .limit = REEL_SOCKET_LIST_MAX};
    struct catalog_page page = {0};
    if (s->single) {
        return true;
    }
    list_done(s);
    if (!catalog_list(s->app->catalog, &query, &page, err)) {
        return false;
    }
    s->list = calloc((size_t)page.n_items + 1, sizeof *s->list);
    bool good = s->list;
    for (uint32_t i = 0; i < page.n_items && good; i++) {
        memcpy(s->list[i].id, page.items[i].id, sizeof s->list[i].id);
        s->list[i].name = strdup(page.items[i].name);
        good = s->list[i].name;
        s->n_list += good;
    }
    catalog_page_done(&page);
    return good || reel_fail_memory(err);
}

static bool open_shown(struct nanover_socket *s, const char *id, struct shown *out, struct reel_error *err) {
    char job[33];
    if (!catalog_get(s->app->catalog, id, &out->row, err)) {
        return false;
    }
    if (!access_sees(http_caller(s->r), &out->row) || out->row.state != STATE_READY) {
        return reel_fail(err, REEL_NOT_FOUND, "%s", catalog_not_found(id));
    }
    out->recording = api_recording_open(s->app, &out->row, OPEN_WAIT_NS, job, err);
    if (!out->recording) {
        return false;
    }
    uint64_t bytes = api_stream_memory(out->recording);
    bool good = http_hold(s->r, bytes, err);
    out->held = good ? bytes : 0;
    return good && nanover_begin(s, NULL, out, err);
}

/* Says what is loaded, as NanoVer's own server does; and its playback, for PATCH /plays/{id}. */
static bool send_loaded(struct nanover_socket *s, size_t index, struct reel_error *err) {
    msgpack_sbuffer packed;
    msgpack_packer to;
    msgpack_sbuffer_init(&packed);
    msgpack_packer_init(&to, &packed, msgpack_sbuffer_write);
    msgpack_pack_map(&to, 1);
    nanover_pack_text(&to, "state");
    msgpack_pack_map(&to, 2);
    nanover_pack_text(&to, "updates");
    msgpack_pack_map(&to, 3);
    nanover_pack_text(&to, "simulation.name");
    nanover_pack_text(&to, s->list[index].name);
    nanover_pack_text(&to, "simulation.index");
    msgpack_pack_uint64(&to, index);
    nanover_pack_text(&to, "reel.play");
    nanover_pack_text(&to, s->shown.entry->id);
    nanover_pack_text(&to, "removals");
    msgpack_pack_array(&to, 0);
    bool good = nanover_send_packed(s, &packed, err);
    msgpack_sbuffer_destroy(&packed);
    return good;
}

bool nanover_load(struct nanover_socket *s, size_t index, struct reel_error *err) {
    struct shown next = {0}, last = s->shown;
    if (index >= s->n_list) {
        return reel_fail(err, REEL_ARGUMENT, "there are %zu recordings, numbered from 0", s->n_list);
    }
    bool good = open_shown(s, s->list[index].id, &next, err) && nanover_send_clear(s, err);
    if (good) {
        s->shown = next;
        s->index = index;
        s->ended = false;
    }
    shown_done(s, good ? &last : &next);
    return good && send_loaded(s, index, err);
}

void nanover_rest(struct nanover_socket *s) {
    if (s->shown.stream && s->shown.memory.lacking == 0) {
        play_rest(s->shown.stream);
        play_memory_rest(&s->shown.memory, s->r);
    }
}

void nanover_look(struct nanover_socket *s) {
    struct reel_error ignored = {0};
    int64_t now = clock_ns();
    if (s->single || !s->shown.recording || now - s->looked_ns < NANOVER_LOOK_NS) {
        return;
    }
    s->looked_ns = now;
    if (!access_still_sees(s->r, http_caller(s->r), s->shown.row.id)) {
        (void)nanover_send_clear(s, &ignored); /* a connection that is closed ends the conversation */
        s->any = false;
        shown_done(s, &s->shown);
    }
}

struct nanover_socket *nanover_socket_new(struct http_request *r, bool single) {
    AUTO(nanover_socket_free) struct nanover_socket *s = calloc(1, sizeof *s);
    const char *pause_topics[PLAY_PAUSE_TOPICS_MAX];
    if (s) {
        s->r = r;
        s->app = http_app(r);
        s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    }
    if (!s || s->wake < 0) {
        http_reply_no_memory(r);
        return NULL;
    }
    s->single = single;
    s->options = reel_play_defaults();
    s->options.loop = true; /* as NanoVer's server plays */
    s->frame_ns = INT64_MIN;
    bool good = plays_read_options(r, &s->options, pause_topics);
    s->options.pause_topics = NULL; /* no parameter of these routes */
    return good ? TAKE(s) : NULL;
}
