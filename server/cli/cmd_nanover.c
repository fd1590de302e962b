/* reel nanover: the reports of NanoVer's own tools, from a recording. */
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "formats/nanover/question.h"

enum { REPORT_FRAME, REPORT_STATE, REPORT_RESETS, REPORT_CHANGES, REPORT_ENERGIES, REPORT_FRAMES, REPORT_STATES };
static const char *const report_names[] = {"frame", "state", "resets", "changes", "energies", "frames", "states", NULL};
/* The first ones as enum reel_table_form. */
static const char *const formats[] = {"csv", "json", "ndjson", "parquet", "arrows", "msgpack", NULL};
enum { FORMAT_MSGPACK = 5 };

struct request {
    int report, format; /* format -1: the default */
    struct cli_time at;
    struct cli_select select; /* start, end, every */
    struct option_list keys;
};
static void nanover_request_done(struct request *q) {
    reel_auto_cli_select_done(&q->select);
    reel_auto_option_list_done(&q->keys);
}

struct writing {
    struct output_file out;
    struct reel_error err; /* of the failed write */
};
static bool cmd_nanover_put(void *context, const char *text, size_t size) {
    struct writing *w = context;
    return cli_output_write(&w->out, text, size, &w->err);
}

static bool print_moment(struct reel_recording *recording, const struct request *q, struct writing *w,
                         struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    int64_t time_ns = info->end_ns;
    if (q->at.given && !reel_time_within(&q->at.time, info->start_ns, info->end_ns, &time_ns, err)) {
        return false;
    }
    AUTO_MEM uint8_t *data = NULL;
    AUTO_MEM char *text = NULL;
    size_t size, text_size;
    if (!reel_nanover_moment(recording, q->report == REPORT_FRAME ? REEL_NANOVER_FRAME : REEL_NANOVER_STATE, time_ns,
                             &data, &size, err)) {
        return false;
    }
    if (q->format == FORMAT_MSGPACK) {
        return cli_output_write(&w->out, data, size, err);
    }
    return reel_nanover_json(bytes_of(data, size), &text, &text_size, err) &&
           cli_output_write(&w->out, text, text_size, err);
}

static bool print_rows(struct reel_recording *recording, struct request *q, struct writing *w, struct reel_error *err) {
    struct reel_selection selection;
    const struct reel_text_sink sink = {.put = cmd_nanover_put, .context = w};
    enum reel_table_form standard =
        q->report == REPORT_CHANGES || q->report == REPORT_STATES ? REEL_TABLE_NDJSON : REEL_TABLE_CSV;
    if (!cli_selection(&q->select, &recording, 1, NULL, &selection, err)) {
        return false;
    }
    const struct reel_nanover_question question = {.topic = (enum reel_nanover_topic)(q->report - REPORT_RESETS),
                                                   .keys = q->keys.items,
                                                   .n_keys = q->keys.count,
                                                   .selection = &selection};
    AUTO(reel_table_text_free)
    struct reel_table_text *rows =
        reel_table_text_new(q->format < 0 ? standard : (enum reel_table_form)q->format, &sink, err);
    AUTO(reel_nanover_free)
    struct reel_nanover *pass = rows ? reel_nanover_open(recording, &question, reel_table_of_text(rows), err) : NULL;
    bool done = false;
    while (pass && !done) {
        if (!reel_nanover_step(pass, &done, err)) {
            return w->err.code != REEL_OK ? reel_error_pass(err, &w->err) : false;
        }
    }
    return pass != NULL;
}

static bool nanover_print(const struct cli_files *files, struct request *q, struct reel_error *err) {
    struct writing w = {.out = {.fd = STDOUT_FILENO}};
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open_files(files, false, err);
    if (!recording) {
        return false;
    }
    return q->report <= REPORT_STATE ? print_moment(recording, q, &w, err) : print_rows(recording, q, &w, err);
}

/* Why the arguments cannot be combined; NULL: they can. */
static const char *conflict(const struct request *q) {
    bool moment = q->report <= REPORT_STATE, every = q->select.every.n || q->select.every.ns,
         spans = q->select.start.given || q->select.end.given;
    if (moment && (spans || every)) {
        return "frame and state are of one time: use --at";
    }
    if (!moment && q->at.given) {
        return "--at applies to frame and state only";
    }
    bool of_state = q->report == REPORT_CHANGES || q->report == REPORT_STATES;
    if (!of_state && q->keys.count > 0) {
        return "--key applies to changes and states only";
    }
    if (of_state && every) {
        return "--every applies to energies and frames only";
    }
    if (q->report == REPORT_RESETS && (spans || every)) {
        return "resets covers the whole recording: no --start, --end or --every";
    }
    return moment && q->format >= 0 && q->format != REEL_TABLE_JSON && q->format != FORMAT_MSGPACK
               ? "frame and state can be printed as json or msgpack"
           : !moment && q->format == FORMAT_MSGPACK ? "rows cannot be printed as msgpack"
                                                    : NULL;
}

static int run_report(char **rest, uint32_t n, struct request *q) {
    struct reel_error err = {0};
    while (report_names[q->report] && strcmp(report_names[q->report], rest[0]) != 0) {
        q->report++;
    }
    if (!report_names[q->report]) {
        return cli_misused(&cli_nanover, "\"%s\" is not one of frame, state, resets, changes, energies, frames, states",
                           rest[0]);
    }
    if (conflict(q)) {
        return cli_misused(&cli_nanover, "%s", conflict(q));
    }
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    if (!cli_gather_one(rest + 1, n - 1, &all, &err)) {
        return all.n > 1 ? cli_misused(&cli_nanover, "%s (run.traj and run.state are one)", err.text)
                         : cli_fail(&cli_nanover, NULL, &err);
    }
    const struct cli_files *files = &all.items[0];
    cli_catch_interrupt();
    if (nanover_print(files, q, &err)) {
        return CLI_DONE;
    }
    cli_forget_files(files, &err);
    return cli_fail(&cli_nanover, files->name, &err);
}

static int run_nanover(int argc, char **argv) {
    AUTO_STRUCT(nanover_request_done) struct request q = {.format = -1};
    int first, code;
    const struct cli_option options[] = {
        {.name = "at",
         .kind = CLI_TIME,
         .to = &q.at,
         .value = "TIME",
         .help = "frame, state: state after all messages up to this time (default: the end)"},
        {.name = "key",
         .kind = CLI_LIST,
         .to = &q.keys,
         .value = "GLOB",
         .help = "changes, states: only keys that match; may be repeated"},
        {.name = "start",
         .kind = CLI_TIME,
         .to = &q.select.start,
         .value = "TIME",
         .help = "changes, energies, frames, states: start time"},
        {.name = "end",
         .kind = CLI_TIME,
         .to = &q.select.end,
         .value = "TIME",
         .help = "changes, energies, frames, states: end time; messages at this time are not included"},
        {.name = "every",
         .kind = CLI_EVERY,
         .to = &q.select.every,
         .value = "N|DURATION",
         .help = "energies, frames: every N-th frame, or the first in each interval"},
        {.name = "output",
         .kind = CLI_CHOICE,
         .to = &q.format,
         .value = "FORMAT",
         .help = "rows: csv, json, ndjson, parquet, arrows; frame, state: json, msgpack",
         .choices = formats},
        {0},
    };
    if (!cli_options(&cli_nanover, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    return run_report(argv + first, (uint32_t)(argc - first), &q);
}

const struct cli_command cli_nanover = {
    .name = "nanover",
    .arguments = "frame|state|resets|changes|energies|frames|states FILE… [OPTION]…",
    .summary = "print frames, states, resets, changes or energies of a NanoVer recording",
    .details = "frame and state print the complete frame or shared state at a time, states that after each change. "
               "`reel convert --run N` extracts "
               "one of the\n"
               "runs that `reel nanover resets` lists.",
    .run = run_nanover,
};
