/* reel check: reports damage in a file. Always scans the file itself; a kept index is not used. */
#include "base/cleanup.h"
#include "base/size_text.h"
#include "cli/cli.h"
#include "http/json_text.h"
#include "values/undecoded.h"
#include "views/views.h"

enum { CHECK_CLEAN = 0, CHECK_DAMAGED = 1, CHECK_UNREADABLE = 2 };

static void print_finding(const struct reel_finding *f) {
    char size[16];
    printf("  %-7s  at %llu", view_severity(f->severity), (unsigned long long)f->offset);
    if (f->length > 0) {
        printf(", %s", size_text(f->length, size));
    }
    printf(": %s\n", f->text);
}

static bool print_undecoded(void *context, const char *topic, const char *why) {
    (void)context, (void)topic; /* the reason begins with it */
    printf("  undecoded  %s\n", why);
    return true;
}
static bool list_undecoded(void *context, const char *topic, const char *why) {
    json_t *one = json_pack("{s:o, s:o}", "topic", view_text(topic), "reason", view_text(why));
    return one && json_array_append_new(context, one) == 0;
}

static void check_print_json(json_t *body) {
    json_text_print(body, 0, stdout); /* cli_flush() reports errors */
    json_decref(body);
    putchar('\n');
}

/* A line for each file, the same members for each. */
static bool print_report(const char *path, struct reel_recording *recording, const char *state,
                         struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    const struct reel_index_info *info = reel_index_info(index);
    json_t *undecoded = json_array();
    bool good = undecoded_topics(recording, list_undecoded, undecoded, err);
    size_t n;
    const struct reel_finding *findings = reel_index_findings(index, &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:s}", "severity", view_severity(findings[i].severity),
                                              "offset", view_u64(findings[i].offset), "length",
                                              view_u64(findings[i].length), "text", findings[i].text));
    }
    check_print_json(json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:o, s:o, s:o, s:n}", "file", path, "state", state,
                               "format", info->format->name, "messages", view_u64(info->messages), "channels",
                               (int)info->n_channels, "lost_bytes", view_u64(info->lost_bytes), "findings_total",
                               view_u64(info->n_findings_total), "findings", list, "undecoded", undecoded, "error"));
    return good;
}

/* A file as it was given, a recording of several by its name. */
static const char *subject_of(const struct cli_files *files) {
    return files->n == 1 ? files->paths[0] : files->in_folder ? files->name : files->paths[files->main];
}

static int check_json(const struct cli_files *files, struct reel_error *err) {
    const char *path = subject_of(files);
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open_files(files, true, err);
    if (!recording) {
        check_print_json(json_pack("{s:s, s:s, s:n, s:i, s:i, s:i, s:i, s:[], s:[], s:s}", "file", path, "state",
                                   "unreadable", "format", "messages", 0, "channels", 0, "lost_bytes", 0,
                                   "findings_total", 0, "findings", "undecoded", "error", err->text));
        return CHECK_UNREADABLE;
    }
    bool damaged = reel_index_info(reel_recording_index(recording))->damaged;
    return !print_report(path, recording, damaged ? "damaged" : "clean", err) || !cli_flush(err) ? CHECK_UNREADABLE
           : damaged                                                                             ? CHECK_DAMAGED
                                                                                                 : CHECK_CLEAN;
}

static int check_check(const struct cli_files *files, struct reel_error *err) {
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open_files(files, true, err);
    if (!recording) {
        return CHECK_UNREADABLE;
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    size_t n;
    const struct reel_finding *findings = reel_index_findings(reel_recording_index(recording), &n);
    char size[16];
    printf("%s: %s, %llu message%s in %u channel%s, ", subject_of(files),
           info->container[0] ? info->container : info->format->title, (unsigned long long)info->messages,
           info->messages == 1 ? "" : "s", info->n_channels, info->n_channels == 1 ? "" : "s");
    if (info->damaged) {
        printf("damaged: %s lost\n", info->lost_bytes > 0 ? size_text(info->lost_bytes, size) : "data");
    } else {
        puts(info->n_findings_total > 0 ? "nothing lost" : "clean");
    }
    for (size_t i = 0; i < n; i++) {
        print_finding(&findings[i]);
    }
    if (info->n_findings_total > n) {
        printf("  … and %llu more\n", (unsigned long long)(info->n_findings_total - n));
    }
    return !undecoded_topics(recording, print_undecoded, NULL, err) || !cli_flush(err) ? CHECK_UNREADABLE
           : info->damaged                                                             ? CHECK_DAMAGED
                                                                                       : CHECK_CLEAN;
}

static int cmd_check_run(int argc, char **argv) {
    int first, code, worst = CHECK_CLEAN;
    bool json = false;
    const struct cli_option options[] = {
        {.name = "json", .kind = CLI_FLAG, .to = &json, .help = "print a JSON object for each file, a line each"},
        CLI_DEFINITIONS_OPTION,
        {0},
    };
    if (!cli_options(&cli_check, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    cli_catch_interrupt();
    struct reel_error err = {0};
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    const struct cli_gather_options gather = {.deep = true};
    if (!cli_gather(argv + first, (uint32_t)(argc - first), &gather, &all, &err)) {
        cli_fail(&cli_check, NULL, &err);
        return CHECK_UNREADABLE;
    }
    for (uint32_t i = 0; i < all.n; i++) {
        err = (struct reel_error){0};
        code = json ? check_json(&all.items[i], &err) : check_check(&all.items[i], &err);
        if (code == CHECK_UNREADABLE && !json) {
            cli_fail(&cli_check, all.items[i].in_folder ? all.items[i].name : cli_file_name(all.items[i].paths[0]),
                     &err);
        }
        worst = code > worst ? code : worst;
    }
    return worst;
}

const struct cli_command cli_check = {
    .name = "check",
    .arguments = "FILE… [--json]",
    .summary = "report damage in recordings",
    .details = "Exit status: 0 if nothing is lost, 1 if a file is damaged, 2 if a file cannot be read at all.",
    .run = cmd_check_run,
};
