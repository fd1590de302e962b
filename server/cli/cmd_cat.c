/* reel cat: prints the messages of a recording, as rows of text or as their raw bytes. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "convert/conversion.h"

enum { FORMAT_RAW = 5, PIECE = 1 << 20 };

static const char *const formats[] = {"ndjson", "json", "json-seq", "csv", "msgpack", "raw", NULL};
static const char *const extensions[] = {".ndjson", ".json", ".json-seq", ".csv", ".msgpack"};
static const char *const time_formats[] = {"rfc3339", "seconds", "milliseconds", "nanoseconds", "relative", NULL};

struct request {
    int format, time_format;
    uint64_t limit, threads;
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
static bool put_raw(struct reel_stream *stream, const struct request *q, char *buffer, struct output_file *out,
                    struct reel_error *err) {
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
    for (uint64_t n = 0; (q->limit == 0 || n < q->limit) && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE;
         n++) {
        if (!copy_payload(stream, &m, buffer, out, err)) {
            return false;
        }
    }
    return step != REEL_STEP_ERROR;
}

static bool cat_put_rows(struct reel_recording *recording, const struct reel_selection *selection,
                         const struct request *q, struct reel_threads *threads, char *buffer, struct output_file *out,
                         struct reel_error *err) {
    const struct reel_writer *writer = reel_writer_named(extensions[q->format], NULL, err);
    const struct reel_write_options options = {.compression = "",
                                               .time_format = (enum reel_time_format)q->time_format,
                                               .limit = q->limit,
                                               .start_ns = reel_index_info(reel_recording_index(recording))->start_ns,
                                               .channels = q->channels,
                                               .raw = q->undecoded,
                                               .fields = q->fields.items,
                                               .n_fields = q->fields.count};
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion =
        writer ? reel_conversion_new(writer, &recording, 1, selection, &options, threads, NULL, err) : NULL;
    AUTO(reel_row_output_free)
    struct reel_row_output *rows = conversion ? reel_conversion_rows(conversion, err) : NULL;
    size_t got = 0;
    do {
        if (!rows || !reel_row_output_next(rows, buffer, PIECE, &got, err) ||
            !cli_output_write(out, buffer, got, err)) {
            return false;
        }
    } while (got > 0);
    return true;
}

static bool put_messages(const struct cli_files *files, struct cli_select *select, const struct request *q,
                         struct reel_error *err) {
    struct reel_selection selection;
    AUTO(reel_threads_free) struct reel_threads *threads = cli_threads(q->threads, err);
    AUTO(reel_recording_free)
    struct reel_recording *recording = threads ? cli_open_files_on(files, false, threads, err) : NULL;
    if (!recording || !cli_selection(select, &recording, 1, NULL, &selection, err) ||
        !cli_warn_matches(&recording, 1, &selection, err)) {
        return false;
    }
    struct output_file out = {.fd = STDOUT_FILENO};
    AUTO_MEM char *buffer = malloc(PIECE);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    if (q->format != FORMAT_RAW) {
        return cat_put_rows(recording, &selection, q, threads, buffer, &out, err);
    }
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection, err);
    return stream && put_raw(stream, q, buffer, &out, err);
}

static int run_cat(int argc, char **argv) {
    AUTO(cli_select_done) struct cli_select select = {0};
    AUTO_STRUCT(cat_request_done) struct request q = {0};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        CLI_SELECT_OPTIONS(select),
        {.name = "limit", .kind = CLI_UINT, .to = &q.limit, .value = "N", .help = "stop after N messages", .least = 1},
        {.name = "output",
         .kind = CLI_CHOICE,
         .to = &q.format,
         .value = "FORMAT",
         .help = "rows of text, or raw: the payloads only",
         .choices = formats},
        {.name = "field",
         .kind = CLI_LIST,
         .to = &q.fields,
         .value = "PATH",
         .help = "print only this field of each payload, such as pose.position.x; may be repeated"},
        {.name = "no-decode",
         .kind = CLI_FLAG,
         .to = &q.undecoded,
         .help = "print payloads as {\"$base64\": …} instead of decoding them"},
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
