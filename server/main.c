/* The program `reel`: finds the subcommand and runs it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/suggest.h"
#include "cli/cli.h"

#define LIST(name) &cli_##name,
static const struct cli_command *const commands[] = {CLI_COMMANDS(LIST) NULL};

static void print_commands(FILE *to) {
    fputs("usage: reel COMMAND [ARGUMENT]…\n\nReads, converts and archives recordings of robots and simulators.\n\n",
          to);
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->summary[0]) { /* commands without a summary are for tests */
            fprintf(to, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
        }
    }
    fputs("\nRun `reel COMMAND --help` for a command's options, `reel --version` for the version.\n", to);
}

static const struct cli_command *command_named(const char *name) {
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static void suggest(const char *name) {
    struct suggestions suggestions = {0};
    char list[256];
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->summary[0]) {
            suggest_add(&suggestions, name, commands[i]->name);
        }
    }
    fprintf(stderr, "reel: unknown command \"%s\"%s%s\n", name,
            suggest_text(&suggestions, "; did you mean ", list, sizeof list),
            suggestions.n ? "?" : "; reel --help lists the commands");
}

int main(int argc, char **argv) {
    json_set_alloc_funcs(heap_malloc, heap_free);
    const char *name = argc > 1 ? argv[1] : "";
    signal(SIGPIPE, SIG_DFL); /* `reel cat … | head` ends quietly even if the caller ignored SIGPIPE; serve ignores it
                                 itself */
    if (strcmp(name, "--version") == 0) {
        puts("reel " REEL_VERSION);
        return CLI_DONE;
    }
    bool help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0;
    if (help && argc == 2) {
        print_commands(stdout);
        return CLI_DONE;
    }
    char option[] = "--help";
    char *help_arguments[] = {argv[0], option, NULL};
    const struct cli_command *command = command_named(help ? argv[2] : name);
    if (!command) {
        if (*name == '\0') {
            print_commands(stderr);
        } else {
            suggest(help ? argv[2] : name);
        }
        return CLI_USAGE;
    }
    return help ? command->run(2, help_arguments) : command->run(argc - 1, argv + 1);
}
