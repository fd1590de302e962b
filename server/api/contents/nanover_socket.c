/* /nanover and /recordings/{id}/nanover: the archive as a server of NanoVer's protocol: commands, and the conversation.
 */
#include <string.h>
#include <sys/eventfd.h>

#include "api/contents/contents.h"
#include "api/contents/nanover_command.h"
#include "api/contents/nanover_shown.h"
#include "api/recording.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limits.h"
#include "http/websocket.h"
#include "play/play.h"

/* ---- commands */

typedef bool command_run(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                         struct reel_error *err);

static bool change(struct nanover_socket *s, const struct reel_play_change *change, msgpack_packer *response,
                   struct reel_error *err) {
    if (!s->shown.play) {
        return reel_fail(err, REEL_ARGUMENT, "nothing is loaded; see playback/list");
    }
    if (response) {
        msgpack_pack_nil(response);
    }
    return reel_play_set(s->shown.play, change, err);
}

static bool run_play(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                     struct reel_error *err) {
    (void)command;
    return change(s, &(struct reel_play_change){.size = sizeof(struct reel_play_change), .set = REEL_PLAY_PAUSED},
                  response, err);
}

static bool run_pause(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                      struct reel_error *err) {
    (void)command;
    return change(
        s, &(struct reel_play_change){.size = sizeof(struct reel_play_change), .set = REEL_PLAY_PAUSED, .paused = true},
        response, err);
}

static int64_t start_of(const struct nanover_socket *s) {
    struct reel_play_state state = {.size = sizeof state};
    reel_play_get(s->shown.play, &state);
    return state.start_ns;
}

static bool go_to(struct nanover_socket *s, int64_t position_ns, unsigned also, msgpack_packer *response,
                  struct reel_error *err) {
    const struct reel_play_change to = {
        .size = sizeof to, .set = REEL_PLAY_POSITION | also, .paused = true, .position_ns = position_ns};
    s->ended = false;
    return change(s, &to, response, err);
}

static bool run_reset(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                      struct reel_error *err) {
    (void)command;
    return s->shown.play ? nanover_send_clear(s, err) && go_to(s, start_of(s), 0, response, err)
                         : change(s, NULL, response, err);
}

static bool step_to_frame(struct nanover_socket *s, struct reel_error *err) {
    int64_t frame_ns = s->frame_ns;
    do {
        play_step(s->shown.stream);
        if (!nanover_send_next(s, err)) {
            return false;
        }
    } while (!s->ended && s->frame_ns == frame_ns && http_stream_ending(s->r, false) == HTTP_GOES_ON);
    return true;
}

/* Pauses, and sends all up to the next frame; after the last one it begins again. */
static bool run_step(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                     struct reel_error *err) {
    struct reel_play_state state = {.size = sizeof state};
    struct reel_play_change loop = {.size = sizeof loop, .set = REEL_PLAY_LOOP};
    if (!run_pause(s, command, response, err)) {
        return false;
    }
    reel_play_get(s->shown.play, &state);
    bool good = reel_play_set(s->shown.play, &loop, err) && step_to_frame(s, err);
    loop.loop = state.loop;
    good = good && reel_play_set(s->shown.play, &loop, err);
    return good && (!s->ended || (nanover_send_clear(s, err) && go_to(s, start_of(s), 0, NULL, err)));
}

/* Pauses, and goes to the frame before. */
static bool run_step_back(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                          struct reel_error *err) {
    int64_t before_ns;
    (void)command;
    if (!s->shown.play) {
        return change(s, NULL, response, err);
    }
    if (!nanover_frame_before(s, &before_ns, err)) {
        return false;
    }
    if (before_ns < start_of(s)) {
        return nanover_send_clear(s, err) && go_to(s, start_of(s), REEL_PLAY_PAUSED, response, err);
    }
    /* sent at once: the next command may be here already, and begins where the client is then */
    return go_to(s, before_ns + 1, REEL_PLAY_PAUSED, response, err) &&
           (play_due(s->shown.stream) > 0 || nanover_send_next(s, err));
}

static bool run_load(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                     struct reel_error *err) {
    msgpack_pack_nil(response);
    if (!command->has_index || command->index < 0) {
        return reel_fail(err, REEL_ARGUMENT, "index: the number of a recording of playback/list, from 0");
    }
    return s->single ? command->index == 0 ? run_reset(s, command, NULL, err)
                                           : reel_fail(err, REEL_ARGUMENT, "there is one recording, of index 0")
                     : nanover_load(s, (size_t)command->index, err);
}

static bool run_next(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                     struct reel_error *err) {
    if (s->single) {
        return run_reset(s, command, response, err);
    }
    msgpack_pack_nil(response);
    return nanover_load(s, s->shown.play && s->index + 1 < s->n_list ? s->index + 1 : 0, err);
}

static bool run_list(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                     struct reel_error *err) {
    (void)command;
    if (!nanover_read_list(s, err)) {
        return false;
    }
    msgpack_pack_map(response, 1);
    nanover_pack_text(response, "simulations");
    msgpack_pack_array(response, s->single ? 1 : s->n_list);
    for (size_t i = 0; i < s->n_list; i++) {
        nanover_pack_text(response, s->list[i].name);
    }
    if (s->single) {
        nanover_pack_text(response, s->shown.row.name);
    }
    return true;
}

static command_run run_commands;
static const struct {
    const char *name;
    bool index; /* it has this argument */
    command_run *run;
} commands[] = {
    {"commands/list", false, run_commands}, {"playback/list", false, run_list},
    {"playback/load", true, run_load},      {"playback/next", false, run_next},
    {"playback/play", false, run_play},     {"playback/pause", false, run_pause},
    {"playback/step", false, run_step},     {"playback/step_back", false, run_step_back},
    {"playback/reset", false, run_reset},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void pack_arguments(msgpack_packer *to, bool index) {
    msgpack_pack_map(to, index);
    if (index) {
        nanover_pack_text(to, "index");
        msgpack_pack_int(to, 0);
    }
}

static bool run_commands(struct nanover_socket *s, const struct nanover_command *command, msgpack_packer *response,
                         struct reel_error *err) {
    (void)s, (void)command, (void)err;
    msgpack_pack_map(response, 2);
    nanover_pack_text(response, "list");
    msgpack_pack_map(response, N_COMMANDS);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        nanover_pack_text(response, commands[i].name);
        pack_arguments(response, commands[i].index);
    }
    nanover_pack_text(response, "commands");
    msgpack_pack_array(response, N_COMMANDS);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        msgpack_pack_map(response, 4);
        nanover_pack_text(response, "name");
        nanover_pack_text(response, commands[i].name);
        nanover_pack_text(response, "label");
        msgpack_pack_nil(response);
        nanover_pack_text(response, "icon");
        msgpack_pack_nil(response);
        nanover_pack_text(response, "arguments");
        pack_arguments(response, commands[i].index);
    }
    return true;
}

/* False: the conversation is over. One message may have thousands of commands. */
static bool on_command(void *context, const struct nanover_command *command) {
    struct nanover_socket *s = context;
    struct reel_error err = {0};
    msgpack_sbuffer packed;
    msgpack_packer to;
    size_t i = 0;
    while (i < N_COMMANDS && !bytes_is(command->name, commands[i].name)) {
        i++;
    }
    msgpack_sbuffer_init(&packed);
    msgpack_packer_init(&to, &packed, msgpack_sbuffer_write);
    nanover_pack_answer(&to, command, "response");
    bool good = i < N_COMMANDS ? commands[i].run(s, command, &to, &err)
                               : reel_fail(&err, REEL_ARGUMENT, "Unknown command; see commands/list");
    if (!good) {
        packed.size = 0;
        nanover_pack_answer(&to, command, "exception");
        nanover_pack_text(&to, err.text);
    }
    bool sent = nanover_send_packed(s, &packed, &err);
    msgpack_sbuffer_destroy(&packed);
    return sent && http_stream_ending(s->r, false) == HTTP_GOES_ON;
}

/* ---- the conversation */

static bool nanover_run(void *context, struct websocket *ws, struct reel_error *err) {
    struct nanover_socket *s = context;
    struct reel_error ignored = {0};
    struct websocket_message message;
    s->ws = ws;
    if (!s->single && nanover_read_list(s, &ignored) && s->n_list > 0) {
        (void)nanover_load(s, 0, &ignored); /* as NanoVer's server begins with the first */
    }
    for (;;) {
        nanover_look(s);
        int64_t due_ns = s->shown.stream && !s->ended ? play_due(s->shown.stream) : INT64_MAX;
        if (due_ns > clock_ns() + PLAY_IDLE_NS) {
            nanover_rest(s);
        }
        int64_t look_ns = s->single || !s->shown.recording ? INT64_MAX : s->looked_ns + NANOVER_LOOK_NS;
        enum websocket_got got = websocket_wait(ws, s->wake, due_ns < look_ns ? due_ns : look_ns, &message);
        if (got == WEBSOCKET_OVER) {
            return true;
        }
        eventfd_t changes = 0;
        if (eventfd_read(s->wake, &changes) == 0) {
            s->ended = false;
        }
        if (got == WEBSOCKET_MESSAGE && !message.text) {
            nanover_command_each(message.bytes, on_command, s);
        } else if (got == WEBSOCKET_QUIET && changes == 0 && due_ns <= clock_ns() && !nanover_send_next(s, err)) {
            return err->code == REEL_CANCELLED;
        }
    }
}

static void on_wait(void *context) {
    const struct nanover_socket *s = context;
    if (s->shown.stream) {
        play_rest(s->shown.stream);
    }
}

static void reply_nanover(struct http_request *r, struct nanover_socket *s) {
    http_reply_socket(r, &(struct http_socket){.run = nanover_run,
                                               .waits = on_wait,
                                               .free = nanover_socket_free,
                                               .context = s,
                                               .message_max = REEL_SOCKET_MESSAGE_MAX});
}

void api_nanover_server(struct http_request *r) {
    struct nanover_socket *s = http_opens_socket(r) ? nanover_socket_new(r, false) : NULL;
    if (s) {
        reply_nanover(r, s);
    }
}

void api_nanover_play(struct http_request *r) {
    struct api_recording a;
    struct reel_time start;
    struct reel_error err = {0};
    if (!http_opens_socket(r) || !api_open_messages(r, &a)) {
        return;
    }
    AUTO(nanover_socket_free) struct nanover_socket *s = nanover_socket_new(r, true);
    if (!s) {
        api_recording_done(&a);
        return;
    }
    s->shown.row = a.row;
    s->shown.recording = a.recording;
    if (!nanover_begin(s, http_param_time(r, "start", &start) ? &start : NULL, &s->shown, &err)) {
        http_reply_error(r, &err);
        return;
    }
    http_add_header(r, "X-Play", s->shown.entry->id);
    reply_nanover(r, TAKE(s));
}
