/* reel tide: the reports of RSBag's own tools for a TIDE file. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "formats/tide/report.h"

static const char *const formats[] = {"csv", "json", "ndjson", "parquet", "arrows", NULL}; /* as enum reel_table_form */

struct request {
    bool channels;
    int format;               /* -1: the default */
    struct cli_select select; /* start, end */
};
static void tide_request_done(struct request *q) {
    reel_auto_cli_select_done(&q->select);
}

static bool cmd_tide_put(void *context, const char *text, size_t size) {
    (void)context;
    return fwrite(text, 1, size, stdout) == size;
}

static bool print_channels(struct reel_recording *recording, struct request *q, struct reel_error *err) {
    const struct reel_text_sink sink = {.put = cmd_tide_put};
    enum reel_table_form form = q->format < 0 ? REEL_TABLE_CSV : (enum reel_table_form)q->format;
    AUTO(reel_table_text_free) struct reel_table_text *rows = reel_table_text_new(form, &sink, err);
    return rows && reel_tide_channels(reel_recording_index(recording), reel_table_of_text(rows), err);
}

static bool print_introspection(struct reel_recording *recording, struct request *q, struct reel_error *err) {
    struct reel_selection selection;
    if (!cli_selection(&q->select, &recording, 1, NULL, &selection, err)) {
        return false;
    }
    AUTO_MEM char *text = reel_tide_introspection(recording, &selection, err);
    return text && (fputs(text, stdout) >= 0 || reel_fail_errno(err, "could not write"));
}

static bool tide_print(const char *path, struct request *q, struct reel_error *err) {
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open(path, false, err);
    return recording && (q->channels ? print_channels : print_introspection)(recording, q, err) && cli_flush(err);
}

static int cmd_tide_run(int argc, char **argv) {
    AUTO_STRUCT(tide_request_done) struct request q = {.format = -1};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "start",
         .kind = CLI_TIME,
         .to = &q.select.start,
         .value = "TIME",
         .help = "introspection: start time"},
        {.name = "end", .kind = CLI_TIME, .to = &q.select.end, .value = "TIME", .help = "introspection: end time"},
        {.name = "output",
         .kind = CLI_CHOICE,
         .to = &q.format,
         .value = "FORMAT",
         .help = "channels: format of the rows (default csv)",
         .choices = formats},
        {0},
    };
    if (!cli_options(&cli_tide, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    q.channels = strcmp(argv[first], "channels") == 0;
    if (!q.channels && strcmp(argv[first], "introspection") != 0) {
        return cli_misused(&cli_tide, "\"%s\" is neither channels nor introspection", argv[first]);
    }
    if (q.channels ? q.select.start.given || q.select.end.given : q.format >= 0) {
        return cli_misused(&cli_tide, "--start and --end apply to introspection only, --output to channels only");
    }
    if (first + 2 != argc) {
        return cli_misused(&cli_tide, "expected one file");
    }
    cli_catch_interrupt();
    if (tide_print(argv[first + 1], &q, &err)) {
        return CLI_DONE;
    }
    cli_forget(argv[first + 1], &err);
    return cli_fail(&cli_tide, cli_file_name(argv[first + 1]), &err);
}

const struct cli_command cli_tide = {
    .name = "tide",
    .arguments = "channels|introspection FILE [OPTION]…",
    .summary = "print what RSBag's tools print about a TIDE log: channels, introspection",
    .details = "introspection prints a tree of hosts, processes and participants as JSON.",
    .run = cmd_tide_run,
};
