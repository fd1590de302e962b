/* See play_remote.h. */
#include "cli/play_remote.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/record_rows.h"
#include "play/play.h"

static const int64_t LOOK_NS = 200000000; /* how often a playback looks for Ctrl-C */

/* Of a playback that has paused (--pause-topics): continues it after a line, or the end, of the standard input. */
static void continue_at_enter(struct reel_play *play) {
    static bool is_known; /* there is one playback in a program */
    const struct reel_play_change change = {.size = sizeof change, .set = REEL_PLAY_PAUSED};
    struct reel_play_state state = {.size = sizeof state};
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[256];
    reel_play_get(play, &state);
    if (!state.paused) {
        return;
    }
    if (!is_known) {
        fputs("reel play: paused; Enter continues\n", stderr);
        is_known = true;
    }
    if (poll(&in, 1, 0) > 0) {
        bool ended = read(STDIN_FILENO, line, sizeof line) <= 0;
        is_known = ended;
        reel_play_set(play, &change, NULL);
    }
}

bool play_await(struct reel_stream *played) {
    while (!reel_play_wait(played, LOOK_NS)) {
        continue_at_enter(play_of(played));
        if (cli_interrupted()) {
            return false;
        }
    }
    return true;
}

bool play_remote(const struct record_remote_options *options, struct reel_stream *stream, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *own = stream;
    AUTO(record_remote_free) struct record_remote *remote = record_remote_open(options, err);
    struct reel_error why = {0};
    if (!remote) {
        return false;
    }
    if (!record_rows_send(remote, TAKE(own), true, play_await, &why) && why.code != REEL_CANCELLED) {
        return reel_error_pass(err, &why);
    }
    return record_remote_finish(remote, err); /* also after Ctrl-C */
}

struct play_bridge {
    struct record_remote *remote;
    struct grow rows;
};

struct play_bridge *play_bridge_open(const struct record_remote_options *options, struct reel_error *err) {
    AUTO(play_bridge_free) struct play_bridge *bridge = calloc(1, sizeof *bridge);
    if (!bridge) {
        reel_fail_memory(err);
        return NULL;
    }
    return (bridge->remote = record_remote_open(options, err)) ? TAKE(bridge) : NULL;
}

bool play_bridge_write(void *context, const void *rows, size_t size, struct reel_error *err) {
    struct play_bridge *bridge = context;
    grow_put(&bridge->rows, rows, size);
    return !bridge->rows.failed ? record_rows_whole(bridge->remote, &bridge->rows, err) : reel_fail_memory(err);
}

bool play_bridge_finish(struct play_bridge *bridge, struct reel_error *err) {
    return record_remote_finish(bridge->remote, err);
}

void play_bridge_free(struct play_bridge *bridge) {
    if (bridge) {
        record_remote_free(bridge->remote);
        free(bridge->rows.data);
        free(bridge);
    }
}
