/* Command-line options by table: parsing and --help use the same rows. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "catalog/notes.h"
#include "cli/cli.h"

enum { OPTIONS_MAX = CLI_OPTIONS_MAX, HELP_COLUMN = 28 };
static const int64_t SECOND_NS = 1000000000;

int cli_fail(const struct cli_command *command, const char *subject, const struct reel_error *err) {
    size_t n = subject ? strlen(subject) : 0;
    bool named = n > 0 && strncmp(err->text, subject, n) == 0 && err->text[n] == ':'; /* messages about a file begin
                                                                                         with its name */
    fprintf(stderr, "reel %s: %s%s%s\n", command->name, subject && !named ? subject : "", subject && !named ? ": " : "",
            err->text);
    return CLI_FAILED;
}

int cli_misused(const struct cli_command *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "reel %s: ", command->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nusage: reel %s %s   (see --help)\n", command->name, command->arguments);
    va_end(arguments);
    return CLI_USAGE;
}

bool cli_flush(struct reel_error *err) {
    return fflush(stdout) == 0 && !ferror(stdout) ? true : reel_fail_errno(err, "standard output");
}

const char *cli_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

/* ---- help */

static void print_option(const struct cli_option *o) {
    char left[64];
    snprintf(left, sizeof left, "%.*s%s--%s%s%s", o->letter ? 2 : 0, (char[]){'-', o->letter, 0}, o->letter ? ", " : "",
             o->name, o->value ? " " : "", o->value ? o->value : "");
    printf("  %-*s%s", HELP_COLUMN, left, strlen(left) >= HELP_COLUMN ? "  " : "");
    for (size_t i = 0; o->choices && o->choices[i]; i++) {
        printf("%s%s", i ? ", " : "", o->choices[i]);
    }
    printf("%s%s", o->choices ? ": " : "", o->help);
    printf(o->initial ? " (default %s)\n" : "\n", o->initial);
}

static void cli_print_help(const struct cli_command *command, const struct cli_option *options) {
    printf("usage: reel %s %s\n\n%s\n", command->name, command->arguments, command->summary);
    if (command->details) {
        printf("\n%s\n", command->details);
    }
    puts("");
    for (const struct cli_option *o = options; o->name; o++) {
        if (o->help) {
            print_option(o);
        }
    }
    print_option(&(struct cli_option){.name = "help", .kind = CLI_FLAG, .help = "print this help"});
}

/* ---- values */

static void store_number(const struct cli_option *o, uint64_t value) {
    if (o->narrow) {
        *(unsigned *)o->to = (unsigned)value;
    } else {
        *(uint64_t *)o->to = value;
    }
}

static bool read_uint(const struct cli_option *o, const char *text, struct reel_error *err) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < o->least ||
        (o->most > 0 && value > o->most)) {
        return o->most > 0 ? reel_fail(err, REEL_ARGUMENT, "\"%s\" is not a whole number from %llu to %llu", text,
                                       (unsigned long long)o->least, (unsigned long long)o->most)
                           : reel_fail(err, REEL_ARGUMENT, "\"%s\" is not a whole number%s", text,
                                       o->least > 0 ? " above 0" : "");
    }
    store_number(o, value * (o->unit > 0 ? o->unit : 1));
    return true;
}

static bool read_duration(const struct cli_option *o, const char *text, struct reel_error *err) {
    uint64_t bare;
    int64_t ns = 0;
    if (number_u64(text, &bare) && !__builtin_mul_overflow(bare, o->unit > 0 ? o->unit : 1, &bare) &&
        bare < (uint64_t)(INT64_MAX / SECOND_NS)) {
        ns = (int64_t)bare * SECOND_NS;
    } else if (!reel_duration_parse(text, &ns, err)) {
        return false;
    }
    if (ns < (int64_t)o->least * SECOND_NS || (o->most > 0 && ns / SECOND_NS > (int64_t)o->most)) {
        return reel_fail(err, REEL_ARGUMENT, "\"%s\" is not a duration from %llus to %llus", text,
                         (unsigned long long)o->least, (unsigned long long)o->most);
    }
    store_number(o, (uint64_t)((ns + SECOND_NS - 1) / SECOND_NS));
    return true;
}

static bool read_every(struct cli_every *every, const char *text, struct reel_error *err) {
    struct cli_option number = {.to = &every->n, .least = 1};
    *every = (struct cli_every){.text = text};
    return read_uint(&number, text, NULL) || reel_duration_parse(text, &every->ns, err);
}

static bool read_choice(const struct cli_option *o, const char *text, struct reel_error *err) {
    char list[128] = "";
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *(int *)o->to = i;
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    return reel_fail(err, REEL_ARGUMENT, "\"%s\" is not one of %s", text, list);
}

static bool options_add_text(struct option_list *list, const char *text, int most, struct reel_error *err) {
    if (!list->items && !(list->items = calloc((size_t)most + 1, sizeof *list->items))) {
        return reel_fail_memory(err);
    }
    list->items[list->count++] = text;
    return true;
}

bool cli_read_value(const struct cli_option *o, const char *text, int most, struct reel_error *err) {
    struct cli_time *time = o->to;
    struct cli_write_option *write = o->to;
    struct reel_write_value value;
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)o->to = true;
        return true;
    case CLI_TEXT:
        *(const char **)o->to = text;
        return true;
    case CLI_LIST:
        return options_add_text(o->to, text, most, err);
    case CLI_UINT:
        return read_uint(o, text, err);
    case CLI_DURATION:
        return read_duration(o, text, err);
    case CLI_TIME:
        time->given = true;
        time->text = text;
        return reel_time_parse(text, 1, &time->time, err);
    case CLI_EVERY:
        return read_every(o->to, text, err);
    case CLI_CHOICE:
        return read_choice(o, text, err);
    case CLI_WRITE:
        return reel_write_option_parse(write->option, text, &value, err) &&
               options_add_text(&write->given, text, most, err);
    }
    return false;
}

bool cli_set_defaults(const struct cli_command *command, const struct cli_option *options) {
    struct reel_error err = {0};
    for (const struct cli_option *o = options; o->name; o++) {
        if (o->initial && !cli_read_value(o, o->initial, 1, &err)) {
            cli_misused(command, "--%s: %s", o->name, err.text);
            return false;
        }
    }
    return true;
}

bool cli_options(const struct cli_command *command, const struct cli_option *options, int required, int argc,
                 char **argv, int *first, int *exit_code) {
    *exit_code = CLI_USAGE;
    return cli_set_defaults(command, options) &&
           cli_options_given(command, options, required, argc, argv, first, exit_code, NULL);
}

bool cli_options_given(const struct cli_command *command, const struct cli_option *options, int required, int argc,
                       char **argv, int *first, int *exit_code, bool *given) {
    struct option table[OPTIONS_MAX + 2] = {0};
    char letters[2 * OPTIONS_MAX + 3] = ":h", *end = letters + 2;
    int n = 0, found;
    for (; options[n].name && n < OPTIONS_MAX; n++) {
        table[n] = (struct option){
            .name = options[n].name, .has_arg = options[n].value ? required_argument : no_argument, .val = n + 1};
        end += options[n].letter ? sprintf(end, "%c%s", options[n].letter, options[n].value ? ":" : "") : 0;
    }
    table[n] = (struct option){.name = "help", .has_arg = no_argument, .val = OPTIONS_MAX + 1};
    opterr = 0;
    optind = 0;
    *exit_code = CLI_USAGE;
    while ((found = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        struct reel_error err = {0};
        if (found == OPTIONS_MAX + 1 || found == 'h') {
            cli_print_help(command, options);
            *exit_code = CLI_DONE;
            return false;
        }
        for (int i = 0; i < n && found > OPTIONS_MAX + 1; i++) { /* letters are greater than all option numbers */
            found = options[i].letter == found ? i + 1 : found;
        }
        if (found == '?' || found == ':') {
            cli_misused(command, found == ':' ? "option %s needs a value" : "unknown option %s", argv[optind - 1]);
            return false;
        }
        if (given) {
            given[found - 1] = true;
        }
        if (!cli_read_value(&options[found - 1], optarg, argc, &err)) {
            cli_misused(command, "--%s: %s", options[found - 1].name, err.text);
            return false;
        }
    }
    *first = optind;
    if (argc - optind < required) {
        cli_misused(command, argc == optind ? "file argument missing" : "argument missing");
        return false;
    }
    return true;
}

bool cli_tags(const struct option_list *list, struct catalog_annotations *annotations, struct reel_error *err) {
    for (uint32_t i = 0; i < list->count; i++) {
        const char *text = list->items[i], *equals = strchr(text, '=');
        AUTO_MEM char *key = equals ? strndup(text, (size_t)(equals - text)) : NULL;
        if (!equals || equals == text) {
            return reel_fail(err, REEL_ARGUMENT, "--tag takes KEY=VALUE, not \"%.100s\"", text);
        }
        if (!key) {
            return reel_fail_memory(err);
        }
        if (annotations ? !catalog_annotations_set_tag(annotations, key, equals + 1, err)
                        : !catalog_tag_check(key, equals + 1, err)) {
            return false;
        }
    }
    return true;
}
