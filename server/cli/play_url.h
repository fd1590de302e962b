/* `reel play URL`: a server plays a recording of its own. */
#ifndef SERVER_CLI_PLAY_URL_H
#define SERVER_CLI_PLAY_URL_H

#include "cli/cli.h"

struct play_url_options {
    const struct cli_select *select;
    const char *speed, *rate, *clock, *max_gap, *follow, *output, *token_file;
    bool loop, undecoded, channels;
    /* Takes the rows as they come; false ends the playback. */
    bool (*write)(void *context, const void *data, size_t size, struct reel_error *err);
    void *context;
};

/* http://host/api/v1/recordings/ID, or the address of the recording's page. */
bool play_url(const char *url, const struct play_url_options *options, struct reel_error *err);

#endif
