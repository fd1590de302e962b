/* Options from the environment and from a configuration file. --cache-mb is REEL_CACHE_MB, REEL_CACHE_MB_FILE names a
 * file with its value, and in the configuration file it is "cache-mb = 256". The command line overrides the
 * environment, which overrides the file, which overrides the default. */
#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/suggest.h"
#include "cli/cli.h"

enum { NAME_MAX_BYTES = 64, FILE_BYTES_MAX = 64 << 10 };

extern char **environ;

void cli_sources_done(struct cli_sources *s) {
    for (unsigned i = 0; i < CLI_OPTIONS_MAX; i++) {
        free(s->items[i].text);
    }
    *s = (struct cli_sources){0};
}

/* Without white space at both ends; cut in place. */
static char *trimmed(char *text) {
    while (ascii_is_space((uint8_t)*text)) {
        text++;
    }
    size_t n = strlen(text);
    while (n > 0 && ascii_is_space((uint8_t)text[n - 1])) {
        text[--n] = '\0';
    }
    return text;
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
        if (*(one = trimmed(one))) {
            list->items[list->count++] = one;
        }
    }
    return true;
}

/* Takes the text, which lists and texts point into. */
static bool take_setting(const struct cli_option *o, struct cli_setting *s, char *text, int most,
                         struct reel_error *err) {
    free(s->text);
    s->text = text;
    return o->kind == CLI_FLAG   ? read_flag(o->to, text, err)
           : o->kind == CLI_LIST ? read_list(o, text, most, err)
                                 : cli_read_value(o, text, most, err);
}

/* ---- the environment */

static bool read_variable(const struct cli_option *o, struct cli_setting *s, int most, struct reel_error *err) {
    char name[NAME_MAX_BYTES], file[NAME_MAX_BYTES];
    environment_name_of(o, "", name);
    environment_name_of(o, "_FILE", file);
    const char *given = getenv(name), *path = getenv(file);
    bool is_given = given && *given, by_file = path && *path;
    if (is_given && by_file) {
        return reel_fail(err, REEL_ARGUMENT, "%s and %s are both set; set only one", name, file);
    }
    if (s->from == CLI_FROM_ARGUMENT || (!is_given && !by_file)) {
        return true;
    }
    char *text = by_file ? read_file(path, err) : strdup(given);
    if (!text) {
        return by_file ? reel_error_at(err, "%s", file) : reel_fail_memory(err);
    }
    s->from = by_file ? CLI_FROM_FILE : CLI_FROM_ENVIRONMENT;
    return take_setting(o, s, text, most, err) || reel_error_at(err, "%s", by_file ? file : name);
}

/* ---- the configuration file */

/* Splits "name = value  # comment" in place. *value NULL: there is no "=". False: the line is empty. */
static bool split_line(char *line, char **name, char **value) {
    for (char *c = line; *c; c++) {
        if (*c == '#' && (c == line || ascii_is_space((uint8_t)c[-1]))) {
            *c = '\0';
            break;
        }
    }
    *name = trimmed(line);
    char *equals = strchr(*name, '=');
    *value = equals ? trimmed(equals + 1) : NULL;
    if (equals) {
        *equals = '\0';
        trimmed(*name);
    }
    return **name || equals;
}

static bool fail_unknown(const struct cli_option *options, const char *name, struct reel_error *err) {
    struct suggestions near = {0};
    char list[SUGGEST_TEXT_MAX];
    for (const struct cli_option *o = options; o->name; o++) {
        if (o->help) {
            suggest_add(&near, name, o->name);
        }
    }
    return reel_fail(err, REEL_ARGUMENT, "\"%.60s\" is no option%s", name,
                     suggest_text(&near, "; did you mean ", list, sizeof list));
}

/* An empty value is none, as in the output of --check-config. */
static bool read_setting(const struct cli_option *options, struct cli_sources *s, const char *name, const char *value,
                         int most, struct reel_error *err) {
    unsigned i = 0;
    while (options[i].name && strcmp(options[i].name, name) != 0) {
        i++;
    }
    if (!options[i].name) {
        return fail_unknown(options, name, err);
    }
    if (options[i].to == s->config) {
        return *value == '\0' || reel_fail(err, REEL_ARGUMENT, "a configuration file names no other");
    }
    struct cli_setting *setting = &s->items[i];
    if (setting->from == CLI_FROM_CONFIG) {
        return reel_fail(err, REEL_ARGUMENT, "%s is set twice; the values of a list are separated by commas", name);
    }
    if (*value == '\0' || setting->from != CLI_FROM_DEFAULT) {
        return true;
    }
    char *text = strdup(value);
    setting->from = CLI_FROM_CONFIG;
    return text ? take_setting(&options[i], setting, text, most, err) || reel_error_at(err, "%s", name)
                : reel_fail_memory(err);
}

bool cli_read_config(const char *path, char *text, const struct cli_option *options, struct cli_sources *s, int most,
                     struct reel_error *err) {
    unsigned number = 0;
    char *name, *value;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        number++;
        if (!split_line(line, &name, &value)) {
            continue;
        }
        if (value ? !read_setting(options, s, name, value, most, err)
                  : !reel_fail(err, REEL_ARGUMENT, "\"%.60s\" has no value", name)) {
            return reel_error_at(err, "%.200s:%u", path, number);
        }
    }
    return true;
}

static bool read_config(const char *path, const struct cli_option *options, struct cli_sources *s, int most,
                        struct reel_error *err) {
    AUTO_MEM char *text = read_file(path, err);
    return text && cli_read_config(path, text, options, s, most, err);
}

bool cli_settings(const struct cli_command *command, const struct cli_option *options, struct cli_sources *s, int argc,
                  char **argv, int *first, int *exit_code) {
    bool given[CLI_OPTIONS_MAX] = {false};
    struct reel_error err = {0};
    *exit_code = CLI_USAGE;
    if (!cli_set_defaults(command, options) ||
        !cli_options_given(command, options, 0, argc, argv, first, exit_code, given)) {
        return false;
    }
    *exit_code = CLI_USAGE;
    bool good = true;
    for (unsigned i = 0; good && options[i].name; i++) {
        s->items[i].from = given[i] ? CLI_FROM_ARGUMENT : CLI_FROM_DEFAULT;
        good = s->file_only || read_variable(&options[i], &s->items[i], argc, &err);
    }
    if (!good || (*s->config && !read_config(*s->config, options, s, argc, &err))) {
        cli_misused(command, "%s", err.text);
        return false;
    }
    return true;
}

/* ---- printing the settings */

static uint64_t cli_number(const struct cli_option *o) {
    uint64_t stored = o->narrow ? *(const unsigned *)o->to : *(const uint64_t *)o->to;
    return stored / (o->unit > 0 && o->kind == CLI_UINT ? o->unit : 1);
}

/* In the largest unit that it is a whole number of. */
static void print_duration(uint64_t s) {
    static const struct {
        uint64_t s;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    size_t i = 0;
    while (s % units[i].s != 0) {
        i++;
    }
    printf(s > 0 ? "%llu%c" : "0", (unsigned long long)(s / units[i].s), units[i].letter);
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
    case CLI_DURATION:
        print_duration(cli_number(o));
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
    static const char *const sources[] = {"default", "command line", "environment ", "file ", ""};
    char name[NAME_MAX_BYTES];
    for (unsigned i = 0; options[i].name; i++) {
        if (!options[i].help) {
            continue;
        }
        enum cli_from from = s->items[i].from;
        bool by_name = from == CLI_FROM_ENVIRONMENT || from == CLI_FROM_FILE;
        environment_name_of(&options[i], from == CLI_FROM_FILE ? "_FILE" : "", name);
        printf("%s = ", options[i].name);
        print_value(&options[i]);
        printf("  # %s%s\n", sources[from], by_name ? name : from == CLI_FROM_CONFIG ? *s->config : "");
    }
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "REEL_", 5) == 0 && !is_variable(options, *e)) { /* a warning only: container platforms set
                                                                            variables of their own */
            fprintf(stderr, "reel %s: warning: the environment variable %.*s matches no option\n", command->name,
                    (int)strcspn(*e, "="), *e);
        }
    }
}
