/* reel record: rows from the standard input into a file or a server's live recording, as they come. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/grow.h"
#include "cli/cli.h"
#include "cli/record_follow.h"
#include "cli/record_socket.h"
#include "cli/record_spool.h"
#include "convert/conversion.h"
#include "convert/split.h"
#include "formats/rows/append.h"
#include "record/split.h"
#include "reel/open.h"

enum { BATCH_BYTES = 1 << 20, BATCH_MAX = 16 << 20, IDLE_MS = 50, LOOK_MS = 500 };
static const int64_t SYNC_NS = 1000000000, PASS_NS = 200000000; /* rows wait no longer than PASS_NS for further ones */

static const char *const inputs[] = {"ndjson", "msgpack", NULL};
static const enum reel_row_media media[] = {REEL_ROWS_JSON, REEL_ROWS_MSGPACK};
static const char *const media_types[] = {"application/x-ndjson", "application/msgpack"};

struct request {
    const char *source; /* ws://… or wss://…, NULL: rows from the standard input */
    const char *target, *to, *name, *collection, *compression, *token_file, *follow_file, *idle, *split_size,
        *split_duration;
    uint64_t split_messages, max_splits;
    int input;
    struct cli_write write;
    struct reel_write_values values; /* of `write`, as the writer checks them */
    struct reel_pair settings[CLI_WRITE_SETTINGS_MAX];
    size_t n_settings;
};

/* Where the messages go, one of the two, and where they come from. */
struct recording {
    struct reel_recorder *recorder;
    struct reel_rows *rows;
    struct record_spool *spool;
    struct record_socket *socket; /* where they come from; NULL: the standard input */
    int64_t synced_ns;
    uint64_t messages;
};
static void recording_done(struct recording *r) {
    reel_rows_free(r->rows);
    reel_recorder_free(r->recorder);
    record_spool_free(r->spool);
    record_socket_free(r->socket);
}

static bool record_go_on(void) {
    return !cli_interrupted();
}

static bool record_append(struct recording *r, enum reel_row_media medium, struct reel_bytes rows,
                          struct reel_error *err) {
    struct reel_rows_added added;
    int64_t now = reel_now_ns();
    if (r->spool) {
        return record_spool_append(r->spool, rows, err);
    }
    if (!reel_rows_append(r->rows, medium, rows, now, &added, err)) {
        return false;
    }
    r->messages += added.messages;
    bool due = now - r->synced_ns >= SYNC_NS;
    r->synced_ns = due ? now : r->synced_ns;
    return due ? reel_recorder_sync(r->recorder, err) : true;
}

/* Reads what there is. *got 0: the end; nothing was there for a moment: *idle. */
static bool record_read_some(struct grow *in, bool some, size_t *got, bool *idle, struct reel_error *err) {
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = poll(&fd, 1, some ? IDLE_MS : LOOK_MS);
    *idle = ready <= 0;
    *got = 1;
    if (*idle) {
        return ready == 0 || errno == EINTR || reel_fail_errno(err, "standard input");
    }
    uint8_t *room = grow_room(in, BATCH_BYTES);
    if (!room) {
        return reel_fail_memory(err);
    }
    ssize_t n = read(STDIN_FILENO, room, BATCH_BYTES);
    if (n < 0) {
        *idle = errno == EINTR;
        return *idle || reel_fail_errno(err, "standard input");
    }
    in->size += (size_t)n;
    *got = (size_t)n;
    return true;
}

/* Passes the complete rows on; `end`: the rest is a row, too. */
static bool pass_on(struct recording *r, enum reel_row_media medium, struct grow *in, bool end,
                    struct reel_error *err) {
    size_t whole = end ? in->size : reel_rows_whole(medium, bytes_of(in->data, in->size));
    if (whole == 0) {
        return in->size < BATCH_MAX || reel_fail(err, REEL_LIMIT, "a row of more than %d MiB", BATCH_MAX >> 20);
    }
    if (!record_append(r, medium, bytes_of(in->data, whole), err)) {
        return false;
    }
    memmove(in->data, in->data + whole, in->size - whole);
    in->size -= whole;
    return true;
}

static bool record_input(struct recording *r, enum reel_row_media medium, struct reel_error *err) {
    struct grow in = {0};
    size_t got = 1;
    int64_t passed_ns = clock_ns();
    bool good = true, idle;
    while (good && got > 0 && record_go_on()) {
        good = record_read_some(&in, in.size > 0, &got, &idle, err);
        bool due = idle || clock_ns() - passed_ns >= PASS_NS;
        if (good && (due || got == 0 || in.size >= BATCH_BYTES)) {
            good = pass_on(r, medium, &in, got == 0, err);
            passed_ns = due ? clock_ns() : passed_ns;
            if (good && due && r->recorder) {
                good = reel_recorder_flush(r->recorder, err); /* others may read the file meanwhile */
            }
        }
    }
    free(in.data);
    return good;
}

/* ---- a file */

static bool is_split(const struct request *q) {
    return q->split_size || q->split_duration || q->split_messages > 0;
}

static bool read_split(const struct request *q, struct record_split_options *out, struct reel_error *err) {
    out->messages = q->split_messages;
    out->max_parts = (uint32_t)q->max_splits;
    if (q->split_size && !split_parse_size(q->split_size, &out->bytes)) {
        return reel_fail(err, REEL_ARGUMENT, "--split-size %.100s: a size is expected, such as 500MB or 1GiB",
                         q->split_size);
    }
    if (q->split_duration && !reel_duration_parse(q->split_duration, &out->ns, err)) {
        return reel_error_at(err, "--split-duration");
    }
    return !q->split_duration || out->ns > 0 || reel_fail(err, REEL_ARGUMENT, "--split-duration must not be 0");
}

/* Formats that cannot be written message by message are recorded as MCAP, beside the file, and converted at the end. */
static bool convert_recorded(const char *recorded, const struct request *q, const struct reel_convert_options *to,
                             struct reel_error *err) {
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(recorded, NULL, err);
    if (!recording || !reel_convert(recording, NULL, q->target, to, NULL, err)) {
        return reel_error_at(err, "what was recorded is in %.200s", recorded);
    }
    unlink(recorded);
    return true;
}

static bool record_file(const struct request *q, const struct reel_writer *writer, struct reel_error *err) {
    AUTO_STRUCT(recording_done) struct recording r = {0};
    AUTO_MEM char *adjacent = disk_adjacent(q->target, ".recording.mcap");
    const struct reel_recorder_options own_options = {.size = sizeof own_options,
                                                      .compression = q->compression,
                                                      .settings = q->settings,
                                                      .n_settings = q->n_settings};
    const struct reel_convert_options to = {
        .size = sizeof to, .compression = q->compression, .settings = q->settings, .n_settings = q->n_settings};
    bool direct = writer->recorder, splits = is_split(q);
    struct record_split_options split = {.target = direct ? NULL : writer, .convert = &to};
    const struct record_socket_options from = {.url = q->source,
                                               .token_file = q->token_file,
                                               .from_zero = strcmp(writer->name, "nanover") == 0,
                                               .go_on = record_go_on};
    if (!adjacent) {
        return reel_fail_memory(err);
    }
    const struct reel_writer *own = direct ? writer : reel_writer_named(".mcap", NULL, err);
    const struct reel_recorder_options *options = direct ? &own_options : NULL;
    if (!own || !read_split(q, &split, err) || (q->source && !(r.socket = record_socket_open(&from, err))) ||
        !(r.recorder = splits ? record_split_open(q->target, own, options, &split, err)
                              : reel_recorder_open(direct ? q->target : adjacent, own, options, err)) ||
        (!q->source && !(r.rows = reel_rows_new(r.recorder, err)))) {
        return false;
    }
    struct reel_error why = {0}, closing = {0};
    const struct record_socket_output output = {.recorder = r.recorder};
    bool good =
        q->source ? record_socket_run(r.socket, &output, &r.messages, &why) : record_input(&r, media[q->input], &why);
    bool closed = reel_recorder_close(TAKE(r.recorder), &closing); /* what came before a failure is kept */
    if (!closed || (direct && !good)) {
        return reel_error_pass(err, good ? &closing : &why);
    }
    if (!direct && !splits && !convert_recorded(adjacent, q, &to, err)) {
        return false;
    }
    fprintf(stderr, "reel record: %llu messages\n", (unsigned long long)r.messages);
    return good || reel_error_pass(err, &why);
}

/* The file is what is kept while the link is cut. */
static bool follow_remote(const struct record_remote_options *options, const char *file, int64_t idle_ns,
                          struct reel_error *err) {
    AUTO(record_remote_free) struct record_remote *remote = record_remote_open(options, err);
    struct reel_error why = {0};
    uint64_t messages = 0;
    if (!remote) {
        return false;
    }
    fprintf(stderr, "reel record: recording %s\n", record_remote_id(remote));
    bool good = record_follow(remote, file, idle_ns, &messages, &why);
    return record_remote_finish(remote, err) && (good || reel_error_pass(err, &why));
}

static bool record_remote(const struct request *q, struct reel_error *err) {
    int64_t idle_ns = 0;
    if (q->idle && !reel_duration_parse(q->idle, &idle_ns, err)) {
        return reel_error_at(err, "--idle");
    }
    const int input = q->source ? REEL_ROWS_MSGPACK : q->input;
    const struct record_socket_options from = {.url = q->source, .go_on = record_go_on};
    const struct record_remote_options options = {.server = q->to,
                                                  .name = q->name,
                                                  .collection = q->collection,
                                                  .token_file = q->token_file,
                                                  .media_type = media_types[input],
                                                  .go_on = record_go_on};
    if (q->follow_file) {
        return follow_remote(&options, q->follow_file, idle_ns, err);
    }
    AUTO_STRUCT(recording_done) struct recording r = {0};
    if ((q->source && !(r.socket = record_socket_open(&from, err))) ||
        !(r.spool = record_spool_open(&options, media[input], err))) {
        return false;
    }
    struct reel_error why = {0};
    const struct record_socket_output output = {.spool = r.spool};
    bool good =
        q->source ? record_socket_run(r.socket, &output, &r.messages, &why) : record_input(&r, media[input], &why);
    return record_spool_finish(r.spool, err) && (good || reel_error_pass(err, &why));
}

/* The options of the format's own, checked before the recording begins. */
static bool read_settings(struct request *q, const struct reel_writer *writer, struct reel_error *err) {
    q->n_settings = cli_write_settings(&q->write, q->settings);
    return cli_write_values(&q->write, writer, &q->values, err);
}
static void request_done(struct request *q) {
    cli_write_done(&q->write);
}

static int run_record(int argc, char **argv) {
    AUTO_STRUCT(request_done) struct request q = {0};
    struct reel_error err = {0};
    int first, code;
    /* clang-format off */
    struct cli_option options[CLI_OPTIONS_MAX + 1] = {
        {.name = "input", .kind = CLI_CHOICE, .to = &q.input, .value = "FORMAT", .help = "format of the rows (default: ndjson)", .choices = inputs},
        {.name = "compression", .kind = CLI_TEXT, .to = &q.compression, .value = "NAME", .help = "compression of the file: zstd, lz4, bz2, as its format has them"},
        {.name = "split-size", .kind = CLI_TEXT, .to = &q.split_size, .value = "SIZE", .help = "write several files, FILE_0000 and so on, of about this size: 500MB, 1GiB"},
        {.name = "split-duration", .kind = CLI_TEXT, .to = &q.split_duration, .value = "DURATION", .help = "the same, a file for each span of this time: 10m"},
        {.name = "split-messages", .kind = CLI_UINT, .to = &q.split_messages, .value = "N", .least = 1, .help = "the same, of this many messages"},
        {.name = "max-splits", .kind = CLI_UINT, .to = &q.max_splits, .value = "N", .least = 1, .most = UINT32_MAX, .help = "keep this many of these files: the oldest is deleted"},
        {.name = "follow-file", .kind = CLI_TEXT, .to = &q.follow_file, .value = "FILE|FOLDER", .help = "with --to: instead of rows, a file that another program is writing, or the folder of `ros2 bag record`"},
        {.name = "idle", .kind = CLI_TEXT, .to = &q.idle, .value = "DURATION", .help = "that file is complete when it has not grown for this time (default: when it is renamed, or Ctrl-C)"},
        {.name = "to", .kind = CLI_TEXT, .to = &q.to, .value = "URL", .help = "a server's address: into a live recording there"},
        {.name = "name", .kind = CLI_TEXT, .to = &q.name, .value = "NAME", .help = "name of the live recording"},
        {.name = "collection", .kind = CLI_TEXT, .to = &q.collection, .value = "NAME", .help = "its collection (default: \"default\")"},
        {.name = "token-file", .kind = CLI_TEXT, .to = &q.token_file, .value = "FILE", .help = "file with the token (default: the environment variable REEL_TOKEN)"},
        {0},
    };
    /* clang-format on */
    cli_add_write_options(&q.write, options, CLI_OPTIONS_MAX + 1);
    if (!cli_options(&cli_record, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    for (size_t n = q.follow_file ? strlen(q.follow_file) : 0; n > 1 && q.follow_file[n - 1] == '/'; n--) {
        ((char *)q.follow_file)[n - 1] = '\0'; /* of a folder, in argv */
    }
    AUTO_MEM char *file_name = q.follow_file ? record_finished_name(cli_file_name(q.follow_file)) : NULL;
    q.name = q.name ? q.name : file_name;
    if (first < argc && record_is_socket(argv[first])) {
        q.source = argv[first++];
    }
    if (q.source && q.follow_file) {
        return cli_misused(&cli_record, "--follow-file and a WebSocket are two sources");
    }
    if (argc - first != (q.to ? 0 : 1) || (q.to && !q.name) || (q.follow_file && !q.to)) {
        return cli_misused(&cli_record, q.to && argc == first ? "--to needs --name"
                                        : q.follow_file       ? "--follow-file needs --to"
                                                              : "expected a file, or --to URL --name NAME");
    }
    if ((q.to && is_split(&q)) || (q.max_splits > 0 && !is_split(&q))) {
        return cli_misused(&cli_record, q.to ? "--split-… is for files, not for --to"
                                             : "--max-splits needs --split-size, --split-duration or --split-messages");
    }
    if (q.to && cli_write_settings(&q.write, q.settings) > 0) {
        return cli_misused(&cli_record, "options of a format are those of a file, not of --to");
    }
    cli_catch_interrupt();
    q.target = q.to ? q.name : argv[first];
    const char *variant = cli_write_variant(&q.write);
    const struct reel_writer *writer = q.to ? NULL : reel_writer_for_file(cli_file_name(q.target), variant, &err);
    bool good =
        q.to ? record_remote(&q, &err) : writer && read_settings(&q, writer, &err) && record_file(&q, writer, &err);
    return good ? CLI_DONE : cli_fail(&cli_record, cli_file_name(q.target), &err);
}

const struct cli_command cli_record = {
    .name = "record",
    .arguments = "[ws://HOST:PORT] FILE [OPTION]… | [ws://HOST:PORT] --to URL --name NAME [OPTION]…",
    .summary = "record rows from the standard input, or what a NanoVer server sends, as they come",
    .details =
        "A row is {\"topic\": …, \"log_time\": …, \"data\": …}; a row {\"$channel\": {\"topic\": …, \"type\": "
        "…, \"encoding\": …}} "
        "defines a topic.\n"
        "The file's extension names its format. Ctrl-C ends the recording.\n"
        "With --split-… a recording is several files, each complete: it begins with the last messages of latched "
        "topics and the state where messages are changes.\n"
        "From ws://HOST:38801 or wss://… come the messages of a NanoVer server, or of /nanover of an archive, as they "
        "were sent.\n"
        "With --follow-file, what is complete in a file goes into the live recording while the file grows.",
    .run = run_record,
};
