/* See play_remote.h. */
#include "cli/play_remote.h"

#include "cli/cli.h"
#include "cli/record_rows.h"
#include "reel/play.h"
#include "wire/cleanup.h"

static const int64_t LOOK_NS = 200000000; /* how often a playback looks for Ctrl-C */

bool play_await(struct reel_stream *played) {
    while (!reel_play_wait(played, LOOK_NS)) {
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
    if (!remote || !record_rows_channels(remote, own, 0, err)) {
        return false;
    }
    if (!record_rows_send(remote, TAKE(own), play_await, &why) && why.code != REEL_CANCELLED) {
        return reel_error_pass(err, &why);
    }
    return record_remote_finish(remote, err); /* also after Ctrl-C */
}
