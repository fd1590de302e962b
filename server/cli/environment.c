/* Options from the environment: --cache-mb is REEL_CACHE_MB, and REEL_CACHE_MB_FILE names a file with its value. The
 * command line overrides the environment, which overrides the default. */
#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "cli/cli.h"

enum { NAME_MAX_BYTES = 64, FILE_BYTES_MAX = 64 << 10 };

extern char **environ;

void cli_sources_done(struct cli_sources *s) {
    for (unsigned i = 0; i < CLI_OPTIONS_MAX; i++) {
        free(s->texts[i]);
    }
    *s = (struct cli_sources){0};
}

static void environment_name_of(const struct cli_option *o, const char *suffix, char out[NAME_MAX_BYTES]) {
    snprintf(out, NAME_MAX_BYTES, "REEL_%s%s", o->name, suffix);
    for (char *c = out; *c; c++) {
        *c = *c == '-' ? '_' : (char)ascii_upper((uint8_t)*c);
    }
}

/* The file's text without its final newlines; malloc'd. */
static char *read_file(const char *path, struct reel_error *err) {
    FILE *f = fopen(path, "re");
    char *text = calloc(1, FILE_BYTES_MAX + 1);
    size_t n = f && text ? fread(text, 1, FILE_BYTES_MAX, f) : 0;
    bool good = f && text && !ferror(f);
    if (!good) {
        reel_fail_errno(err, "%.200s", path);
    }
    if (f) {
        fclose(f);
    }
    while (good && n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r')) {
        text[--n] = '\0';
    }
    if (!good) {
        free(text);
        return NULL;
    }
    return text;
}

static bool read_flag(bool *to, const char *text, struct reel_error *err) {
    bool yes = strcmp(text, "1") == 0 || strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    *to = yes;
    return yes || strcmp(text, "0") == 0 || strcmp(text, "false") == 0 || strcmp(text, "no") == 0 ||
           reel_fail(err, REEL_ARGUMENT, "\"%.40s\" is not true or false", text);
}

/* "a,b": two values. The list points into `text`, which is split in place. */
static bool read_list(const struct cli_option *o, char *text, int most, struct reel_error *err) {
    struct option_list *list = o->to;
    size_t n = 1;
    for (const char *c = text; *c; c++) {
        n += *c == ',';
    }
    if (!(list->items = calloc(n + (size_t)most + 1, sizeof *list->items))) {
        return reel_fail_memory(err);
    }
    for (char *rest = text, *one; (one = strsep(&rest, ","));) {
        if (*one) {
            list->items[list->count++] = one;
        }
    }
    return true;
}

static bool read_variable(const struct cli_option *o, unsigned i, struct cli_sources *s, int most,
                          struct reel_error *err) {
    char name[NAME_MAX_BYTES], file[NAME_MAX_BYTES];
    environment_name_of(o, "", name);
    environment_name_of(o, "_FILE", file);
    const char *given = getenv(name), *path = getenv(file);
    if ((!given || !*given) && (!path || !*path)) {
        return true;
    }
    if (given && *given && path && *path) {
        return reel_fail(err, REEL_ARGUMENT, "%s and %s are both set; set only one", name, file);
    }
    bool by_file = !given || !*given;
    if (!(s->texts[i] = by_file ? read_file(path, err) : strdup(given))) {
        return by_file ? reel_error_at(err, "%s", file) : reel_fail_memory(err);
    }
    s->from[i] = by_file ? CLI_FROM_FILE : CLI_FROM_ENVIRONMENT;
    bool good = o->kind == CLI_FLAG   ? read_flag(o->to, s->texts[i], err)
                : o->kind == CLI_LIST ? read_list(o, s->texts[i], most, err)
                                      : cli_read_value(o, s->texts[i], most, err);
    return good || reel_error_at(err, "%s", by_file ? file : name);
}

bool cli_options_and_environment(const struct cli_command *command, const struct cli_option *options,
                                 struct cli_sources *s, int argc, char **argv, int *first, int *exit_code) {
    bool given[CLI_OPTIONS_MAX] = {false};
    struct reel_error err = {0};
    *exit_code = CLI_USAGE;
    if (!cli_set_defaults(command, options)) {
        return false;
    }
    for (unsigned i = 0; options[i].name && i < CLI_OPTIONS_MAX; i++) {
        if (!read_variable(&options[i], i, s, argc, &err)) {
            cli_misused(command, "%s", err.text);
            return false;
        }
    }
    if (!cli_options_given(command, options, 0, argc, argv, first, exit_code, given)) {
        return false;
    }
    for (unsigned i = 0; options[i].name && i < CLI_OPTIONS_MAX; i++) {
        s->from[i] = given[i] ? CLI_FROM_ARGUMENT : s->from[i];
    }
    return true;
}

/* ---- printing the settings */

static uint64_t cli_number(const struct cli_option *o) {
    uint64_t stored = o->narrow ? *(const unsigned *)o->to : *(const uint64_t *)o->to;
    return stored / (o->unit > 0 ? o->unit : 1);
}

static void print_value(const struct cli_option *o) {
    const struct option_list *list = o->to;
    const char *text = o->kind == CLI_TEXT ? *(const char *const *)o->to : NULL;
    switch (o->kind) {
    case CLI_FLAG:
        fputs(*(const bool *)o->to ? "true" : "false", stdout);
        break;
    case CLI_TEXT:
        fputs(text ? text : "", stdout);
        break;
    case CLI_UINT:
        printf("%llu", (unsigned long long)cli_number(o));
        break;
    case CLI_CHOICE:
        fputs(o->choices[*(const int *)o->to], stdout);
        break;
    case CLI_LIST:
        for (uint32_t i = 0; i < list->count; i++) {
            printf("%s%s", i > 0 ? "," : "", list->items[i]);
        }
        break;
    case CLI_TIME:
    case CLI_EVERY:
    case CLI_WRITE:
        break;
    }
}

static bool is_variable(const struct cli_option *options, const char *entry) {
    char name[NAME_MAX_BYTES], file[NAME_MAX_BYTES];
    size_t n = strcspn(entry, "=");
    for (unsigned i = 0; options[i].name; i++) {
        environment_name_of(&options[i], "", name);
        environment_name_of(&options[i], "_FILE", file);
        if ((strlen(name) == n && strncmp(name, entry, n) == 0) ||
            (strlen(file) == n && strncmp(file, entry, n) == 0)) {
            return true;
        }
    }
    return false;
}

void cli_print_settings(const struct cli_command *command, const struct cli_option *options,
                        const struct cli_sources *s) {
    static const char *const from[] = {"default", "command line", "environment", "file"};
    char name[NAME_MAX_BYTES];
    for (unsigned i = 0; options[i].name && i < CLI_OPTIONS_MAX; i++) {
        bool by_name = s->from[i] == CLI_FROM_ENVIRONMENT || s->from[i] == CLI_FROM_FILE;
        environment_name_of(&options[i], s->from[i] == CLI_FROM_FILE ? "_FILE" : "", name);
        printf("%s = ", options[i].name);
        print_value(&options[i]);
        printf("  # %s%s%s\n", from[s->from[i]], by_name ? " " : "", by_name ? name : "");
    }
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "REEL_", 5) == 0 && !is_variable(options, *e)) { /* a warning only: container platforms set
                                                                            variables of their own */
            fprintf(stderr, "reel %s: warning: the environment variable %.*s matches no option\n", command->name,
                    (int)strcspn(*e, "="), *e);
        }
    }
}
