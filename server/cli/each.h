/* What a command makes of each of many recordings: a file in a folder, by a process of its own. */
#ifndef SERVER_CLI_EACH_H
#define SERVER_CLI_EACH_H

#include "cli/cli.h"

struct cli_each {
    const struct cli_command *command;
    unsigned processes; /* at once */
    bool always;        /* also what is there already, and is not older than its recording */
    bool silent;        /* do not print how many there were */
    char *(*path)(const void *context, const char *folder, const struct cli_files *files); /* of the file; malloc'd */
    /* In the process: the files of a recording, then the one to be made. */
    bool (*run)(const void *context, char **paths, uint32_t n, bool replace, struct reel_error *err);
    const void *context;
};
int cli_run_each(const struct cli_each *each, char **paths, uint32_t n, const char *folder);

#endif
