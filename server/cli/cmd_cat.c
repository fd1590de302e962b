/* reel cat: prints the messages of a recording, as rows of text or as their raw bytes. */
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "cli/cat_audio.h"
#include "cli/cat_styles.h"
#include "cli/cli.h"
#include "convert/conversion.h"

enum { FORMAT_RAW = 5, FORMAT_WAV, FORMAT_STYLES, PIECE = 1 << 20 }; /* the styles in the order of enum cat_style */

static const char *const formats[] = {"ndjson",  "json",     "json-seq",  "csv",      "msgpack", "raw",
                                      "wav",     "payload",  "meta-data", "detailed", "compact", "statistics",
                                      "monitor", "timeline", "files",     NULL};
static const char *const extensions[] = {".ndjson", ".json", ".json-seq", ".csv", ".msgpack"};
static const char *const time_formats[] = {"rfc3339", "seconds", "milliseconds", "nanoseconds", "relative", NULL};

struct request {
    int format, time_format;
    uint64_t limit, threads;
    const char *from_index, *to_index, *interval, *directory;
    int64_t from, to; /* of the indexes */
    int decode;       /* 1: none */
    bool undecoded, channels;
    struct option_list fields;
};

static void cat_request_done(struct request *q) {
    reel_auto_option_list_done(&q->fields);
}

static bool copy_payload(struct reel_stream *stream, const struct reel_message *m, char *buffer,
                         struct output_file *out, struct reel_error *err) {
    for (uint32_t done = 0; done < m->size;) {
        size_t n = m->size - done < PIECE ? m->size - done : PIECE;
        if (!reel_stream_copy(stream, m, done, buffer, n, err) || !cli_output_write(out, buffer, n, err)) {
            return false;
        }
        done += (uint32_t)n;
    }
    return true;
}

/* Concatenated payloads, nothing between them; payloads of several topics could not be distinguished. */
static bool put_raw(struct reel_stream *stream, uint64_t limit, struct reel_error *err) {
    struct output_file out = {.fd = STDOUT_FILENO};
    AUTO_MEM char *buffer = malloc(PIECE);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 1; i < stream->n_channels; i++) {
        if (strcmp(stream->channels[i]->name, stream->channels[0]->name) != 0) {
            return reel_fail(
                err, REEL_ARGUMENT,
                "raw output needs a single topic, and there are several (%s, %s, …): select one with --topic",
                stream->channels[0]->name, stream->channels[i]->name);
        }
    }
    struct reel_message m;
    enum reel_step step = REEL_STEP_END;
    for (uint64_t n = 0; n < limit && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE; n++) {
        if (!copy_payload(stream, &m, buffer, &out, err)) {
            return false;
        }
    }
    return step != REEL_STEP_ERROR;
}

static struct reel_row_output *open_rows(struct reel_recording *recording, const struct reel_selection *selection,
                                         const struct request *q, struct reel_stream *part, uint64_t limit,
                                         struct reel_threads *threads, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *own = part;
    const struct reel_writer *writer = reel_writer_named(extensions[q->format], NULL, err);
    const struct reel_write_options options = {.compression = "",
                                               .time_format = (enum reel_time_format)q->time_format,
                                               .limit = limit,
                                               .start_ns = reel_index_info(reel_recording_index(recording))->start_ns,
                                               .channels = q->channels,
                                               .raw = q->undecoded,
                                               .fields = q->fields.items,
                                               .n_fields = q->fields.count};
    if (!writer || own) {
        return writer ? reel_row_output_new(writer, &options, TAKE(own), err) : NULL;
    }
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion =
        reel_conversion_new(writer, &recording, 1, selection, &options, threads, NULL, err);
    return conversion ? reel_conversion_rows(conversion, err) : NULL;
}

/* `part` NULL: all messages of the selection, on several threads; else it is taken over. */
static bool cat_put_rows(struct reel_recording *recording, const struct reel_selection *selection,
                         const struct request *q, struct reel_stream *part, uint64_t limit, struct reel_error *err) {
    struct output_file out = {.fd = STDOUT_FILENO};
    AUTO(reel_threads_free) struct reel_threads *threads = cli_threads(q->threads, err);
    AUTO_MEM char *buffer = malloc(PIECE);
    if (!threads || !buffer) {
        reel_stream_free(part);
        return threads ? reel_fail_memory(err) : false;
    }
    AUTO(reel_row_output_free)
    struct reel_row_output *rows = open_rows(recording, selection, q, part, limit, threads, err);
    size_t got = 0;
    do {
        if (!rows || !reel_row_output_next(rows, buffer, PIECE, &got, err) ||
            !cli_output_write(&out, buffer, got, err)) {
            return false;
        }
    } while (got > 0);
    return true;
}

static bool cat_put_style(struct reel_recording *recording, const struct reel_selection *selection,
                          const struct request *q, struct reel_stream *stream, int64_t first, uint64_t limit,
                          struct reel_error *err) {
    struct output_file out = {.fd = STDOUT_FILENO};
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    struct cat_options options = {.style = (enum cat_style)(q->format - FORMAT_STYLES),
                                  .limit = limit,
                                  .first_index = first,
                                  .interval_ns = 1000000000,
                                  .start_ns = info->start_ns,
                                  .end_ns = info->end_ns,
                                  .folder = q->directory,
                                  .clock = info->clock};
    options.start_ns = selection->start_ns > info->start_ns ? selection->start_ns : info->start_ns;
    options.end_ns = selection->end_ns < info->end_ns ? selection->end_ns : info->end_ns;
    if (q->interval && !reel_duration_parse(q->interval, &options.interval_ns, err)) {
        return reel_error_at(err, "--interval");
    }
    if (options.interval_ns <= 0) {
        return reel_fail(err, REEL_ARGUMENT, "--interval must not be 0");
    }
    return cat_in_style(stream, &options, &out, err);
}

/* The stream of the messages between the indexes. *limit: how many there are at most. */
static struct reel_stream *open_part(struct reel_recording *recording, const struct reel_selection *selection,
                                     const struct request *q, int64_t *first, uint64_t *limit, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, selection, err);
    uint64_t count = 0;
    *first = q->from;
    if (!stream || !stream_slice(stream, first, q->to, &count, err)) {
        return NULL;
    }
    *limit = q->limit > 0 && q->limit < count ? q->limit : count;
    if (count > 0) {
        return TAKE(stream);
    }
    struct reel_selection none = *selection;
    none.end_ns = none.start_ns = REEL_TIME_MIN;
    none.last_per_topic = false;
    return reel_stream_open(&recording, 1, &none, err);
}

static bool put_messages(const struct cli_files *files, struct cli_select *select, const struct request *q,
                         struct reel_error *err) {
    struct reel_selection selection;
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open_files(files, false, err);
    if (!recording || !cli_selection(select, &recording, 1, NULL, &selection, err) ||
        !cli_warn_matches(&recording, 1, &selection, err)) {
        return false;
    }
    if (q->format < FORMAT_RAW && !q->from_index && !q->to_index) {
        return cat_put_rows(recording, &selection, q, NULL, q->limit, err);
    }
    uint64_t limit = 0;
    int64_t first = 0;
    AUTO(reel_stream_free) struct reel_stream *stream = open_part(recording, &selection, q, &first, &limit, err);
    struct output_file out = {.fd = STDOUT_FILENO};
    return stream && (q->format == FORMAT_RAW   ? put_raw(stream, limit, err)
                      : q->format == FORMAT_WAV ? cat_audio(stream, limit, &out, err)
                      : q->format > FORMAT_WAV  ? cat_put_style(recording, &selection, q, stream, first, limit, err)
                                                : cat_put_rows(recording, &selection, q, TAKE(stream), limit, err));
}

/* "a,b" becomes two of them; the texts are split in place. */
static bool split_fields(struct option_list *fields, struct reel_error *err) {
    struct option_list all = {0};
    size_t n = fields->count;
    for (uint32_t i = 0; i < fields->count; i++) {
        for (const char *c = fields->items[i]; *c; c++) {
            n += *c == ',';
        }
    }
    if (!(all.items = calloc(n + 1, sizeof *all.items))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < fields->count; i++) {
        for (char *rest = (char *)fields->items[i], *one; (one = strsep(&rest, ","));) {
            all.items[all.count++] = one;
        }
    }
    free(fields->items);
    *fields = all;
    return true;
}

/* Checks what goes together. NULL: it does. */
static const char *read_request(struct request *q) {
    bool styled = q->format >= FORMAT_WAV;
    q->undecoded = q->undecoded || q->decode == 1;
    q->from = 0;
    q->to = INT64_MAX;
    if ((q->from_index && !number_i64_of(q->from_index, strlen(q->from_index), &q->from)) ||
        (q->to_index && !number_i64_of(q->to_index, strlen(q->to_index), &q->to))) {
        return "--from-index and --to-index are whole numbers; negative ones count from the end";
    }
    if (styled && (q->fields.count > 0 || q->undecoded || q->channels || q->time_format > 0)) {
        return "--fields, --decode, --channels and --time-format are for rows";
    }
    bool is_files = q->format == FORMAT_STYLES + CAT_FILES;
    return is_files && !q->directory   ? "--output files needs --directory"
           : !is_files && q->directory ? "--directory is for --output files"
                                       : NULL;
}

static int run_cat(int argc, char **argv) {
    AUTO(cli_select_done) struct cli_select select = {0};
    AUTO_STRUCT(cat_request_done) struct request q = {0};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        CLI_SELECT_OPTIONS(select),
        {.name = "from-index",
         .kind = CLI_TEXT,
         .to = &q.from_index,
         .value = "N",
         .help = "begin with the message of this index: 0 is the first, -1 the last of those that are selected"},
        {.name = "to-index", .kind = CLI_TEXT, .to = &q.to_index, .value = "N", .help = "end before this one"},
        {.name = "interval",
         .kind = CLI_TEXT,
         .to = &q.interval,
         .value = "DURATION",
         .help = "of statistics and monitor (default 1s)"},
        {.name = "directory",
         .kind = CLI_TEXT,
         .to = &q.directory,
         .value = "DIR",
         .help = "of files; images are JPEG and PNG"},
        {.name = "limit", .kind = CLI_UINT, .to = &q.limit, .value = "N", .help = "stop after N messages", .least = 1},
        {.name = "output",
         .kind = CLI_CHOICE,
         .to = &q.format,
         .value = "FORMAT",
         .help = "rows; raw: the payloads only; wav: audio; payload: their values; meta-data: all but the payloads; "
                 "detailed, compact: "
                 "for people; statistics, monitor: rates and sizes in each interval, monitor by topic; timeline: where "
                 "the messages of each topic are; files: each payload a file",
         .choices = formats},
        {.name = "fields",
         .kind = CLI_LIST,
         .to = &q.fields,
         .value = "PATH,…",
         .help = "print only these fields of each payload, such as pose.position.x; may be repeated"},
        {.name = "field", .kind = CLI_LIST, .to = &q.fields, .value = "PATH"},
        CLI_DECODE_OPTIONS(q.decode, q.undecoded),
        {.name = "channels",
         .kind = CLI_FLAG,
         .to = &q.channels,
         .help = "first, print how each topic is defined; not in CSV"},
        CLI_DEFINITIONS_OPTION,
        CLI_THREADS_OPTION(q.threads),
        {.name = "time-format",
         .kind = CLI_CHOICE,
         .to = &q.time_format,
         .value = "FORMAT",
         .help = "format of times",
         .choices = time_formats},
        {0},
    };
    if (!cli_options(&cli_cat, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    if (!split_fields(&q.fields, &err)) {
        return cli_fail(&cli_cat, NULL, &err);
    }
    const char *problem = read_request(&q);
    if (problem) {
        return cli_misused(&cli_cat, "%s", problem);
    }
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    if (!cli_gather_one(argv + first, (uint32_t)(argc - first), &all, &err)) {
        return all.n > 1 ? cli_misused(&cli_cat, "%s", err.text) : cli_fail(&cli_cat, NULL, &err);
    }
    cli_catch_interrupt();
    if (put_messages(&all.items[0], &select, &q, &err)) {
        return CLI_DONE;
    }
    cli_forget_files(&all.items[0], &err);
    return cli_fail(&cli_cat, all.items[0].name, &err);
}

const struct cli_command cli_cat = {
    .name = "cat",
    .arguments = "FILE… [OPTION]…",
    .summary = "print the messages of a recording in time order",
    .details = "Each row has the members topic, sequence, log_time, publish_time and data. Payloads that cannot be "
               "decoded are {\"$base64\": …}.",
    .run = run_cat,
};
