/* What a command makes of each of many recordings: a file in a folder, by a process of its own. */
#ifndef SERVER_CLI_EACH_H
#define SERVER_CLI_EACH_H

#include "cli/cli.h"

struct cli_each {
    const struct cli_command *command;
    unsigned processes; /* at once */
    bool always;        /* also what is there already, and is not older than its recording */
    bool silent;        /* do not print how many there were */
    /* Of the file that is made; `place` is that of the recording's first one below a folder that was given. malloc'd.
     */
    char *(*path)(const void *context, const char *folder, const char *place);
    /* In the process: the files of a recording, then the one to be made. */
    bool (*run)(const void *context, char **paths, uint32_t n, bool replace, struct reel_error *err);
    const void *context;
};
int cli_run_each(const struct cli_each *each, char **paths, uint32_t n, const char *folder);

#endif
