/* See cli.h. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

void cli_write_done(struct cli_write *write) {
    for (size_t i = 0; i < CLI_WRITE_OPTIONS_MAX; i++) {
        reel_auto_option_list_done(&write->items[i].given);
    }
}

static struct cli_option option_row(struct cli_write_option *item) {
    static const char *const values[] = {
        [REEL_OPTION_FLAG] = NULL,           [REEL_OPTION_UINT] = "N",      [REEL_OPTION_BYTES] = "BYTES",
        [REEL_OPTION_DURATION] = "DURATION", [REEL_OPTION_CHOICE] = "KIND", [REEL_OPTION_GLOBS] = "GLOB"};
    const struct reel_write_option *o = item->option;
    size_t used = strlen(item->help);
    if (o->initial) {
        snprintf(item->help + used, sizeof item->help - used, " (default %s)", o->initial);
    }
    snprintf(item->name, sizeof item->name, "%s", o->name);
    for (char *p = item->name; (p = strchr(p, '_')) != NULL;) {
        *p = '-';
    }
    return (struct cli_option){.name = item->name,
                               .kind = CLI_WRITE,
                               .to = item,
                               .value = values[o->type],
                               .help = item->help,
                               .choices = o->choices};
}

void cli_add_write_options(struct cli_write *write, struct cli_option *options, size_t room) {
    size_t n = 0;
    while (options[n].name) {
        n++;
    }
    for (size_t i = 0; i < CLI_WRITE_OPTIONS_MAX && n + 1 < room; i++, n++) {
        struct cli_write_option *item = &write->items[i];
        if (!(item->option = reel_write_option_at(i, item->help))) {
            return;
        }
        options[n] = option_row(item);
    }
}

const char *cli_write_variant(const struct cli_write *write) {
    for (size_t i = 0; i < CLI_WRITE_OPTIONS_MAX && write->items[i].option; i++) {
        const struct option_list *given = &write->items[i].given;
        const struct reel_write_option *o = write->items[i].option;
        const char *last = given->count > 0 ? given->items[given->count - 1] : NULL;
        if (o->is_variant && last && strcmp(last, o->choices[0]) != 0) {
            return last;
        }
    }
    return NULL;
}

bool cli_write_values(const struct cli_write *write, const struct reel_writer *writer, struct reel_write_values *values,
                      struct reel_error *err) {
    values->n = 0;
    for (size_t i = 0; i < CLI_WRITE_OPTIONS_MAX && write->items[i].option; i++) {
        const struct cli_write_option *item = &write->items[i];
        for (uint32_t k = 0; k < item->given.count; k++) {
            if (!reel_writer_set_option(writer, item->option->name, item->given.items[k], true, values, err)) {
                return reel_error_at(err, "--%s", item->name);
            }
        }
    }
    return true;
}

size_t cli_write_settings(const struct cli_write *write, struct reel_pair settings[CLI_WRITE_SETTINGS_MAX]) {
    size_t n = 0;
    for (size_t i = 0; i < CLI_WRITE_OPTIONS_MAX && write->items[i].option; i++) {
        const struct cli_write_option *item = &write->items[i];
        for (uint32_t k = 0; k < item->given.count && n < CLI_WRITE_SETTINGS_MAX; k++) {
            settings[n++] = (struct reel_pair){.key = item->option->name, .value = item->given.items[k]};
        }
    }
    return n;
}
