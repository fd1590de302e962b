/* reel play: prints the messages of a recording when they are due. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "cli/client.h"
#include "cli/play_remote.h"
#include "cli/play_url.h"
#include "convert/writer.h"
#include "formats/carla/follow.h"
#include "play/play.h"

enum { PIECE = 1 << 20 };

static const char *const formats[] = {"ndjson", "msgpack", "events", NULL};
static const char *const extensions[] = {".ndjson", ".msgpack", ".events"};

struct request {
    int format;
    const char *speed, *rate, *clock, *max_gap, *follow, *to, *name, *collection, *token_file;
    int decode; /* 1: none */
    bool loop, undecoded, channels;
    struct option_list pauses;
    struct cli_merging merging;
};

static bool play_go_on(void) {
    return !cli_interrupted();
}

static bool cmd_play_read_number(const char *name, const char *text, double *out, struct reel_error *err) {
    double value = 0;
    if (text && !(number_real(text, &value) && value > 0)) {
        return reel_fail(err, REEL_ARGUMENT, "--%s %s: a number above 0 is expected", name, text);
    }
    *out = text ? value : *out;
    return true;
}

static bool cmd_play_read_options(const struct request *q, struct reel_play_options *out, struct reel_error *err) {
    out->loop = q->loop;
    out->pause_topics = q->pauses.items;
    out->n_pause_topics = q->pauses.count;
    if (q->speed && strcmp(q->speed, "max") == 0) {
        out->speed = 0;
    } else if (!cmd_play_read_number("speed", q->speed, &out->speed, err)) {
        return false;
    }
    return cmd_play_read_number("rate", q->rate, &out->rate, err) &&
           cmd_play_read_number("clock", q->clock, &out->clock_hz, err) &&
           (!q->max_gap || reel_duration_parse(q->max_gap, &out->max_gap_ns, err));
}

/* The controls, through the actor's view where one is followed. */
static struct reel_play *open_play(const struct cli_merged *in, const struct reel_play_options *o, const char *follow,
                                   struct reel_error *err) {
    uint64_t actor = 0;
    if (follow && (!number_u64(follow, &actor) || actor > UINT32_MAX)) {
        reel_fail(err, REEL_ARGUMENT, "--follow %s: the number of an actor is expected", follow);
        return NULL;
    }
    if (follow && in->n > 1) {
        reel_fail(err, REEL_ARGUMENT, "--follow needs a single recording");
        return NULL;
    }
    if (follow && !reel_carla_has_actor(in->recordings[0], (uint32_t)actor, err)) {
        return NULL;
    }
    struct reel_play *play = reel_play_new(o, err);
    if (play && follow) {
        play_through(play, reel_carla_follow, (uint32_t)actor);
    }
    return play;
}

static struct reel_stream *cmd_play_open_stream(const struct cli_merged *in, struct reel_selection *selection,
                                                const struct reel_play_options *o, const char *follow,
                                                struct reel_error *err) {
    int64_t start, end;
    reel_merge_span(in->recordings, in->n, in->sources, &start, &end);
    selection->state_at_cut = selection->start_ns != REEL_TIME_MIN;
    if (selection->start_ns > start) {
        start = selection->start_ns;
    }
    AUTO(reel_play_free) struct reel_play *play = open_play(in, o, follow, err);
    return play ? reel_play_stream(play, in->recordings, in->n, selection, start, end > start ? end : start, err)
                : NULL;
}

static struct record_remote_options remote_of(const struct request *q, const char *name) {
    return (struct record_remote_options){.server = q->to,
                                          .name = q->name ? q->name : name,
                                          .collection = q->collection,
                                          .token_file = q->token_file,
                                          .media_type = "application/x-ndjson",
                                          .go_on = play_go_on};
}

static bool play_merged(struct cli_merged *in, struct cli_select *select, const struct request *q,
                        struct reel_error *err) {
    struct reel_selection selection;
    struct reel_play_options options = reel_play_defaults();
    const struct reel_write_options write = {
        .compression = "", .prompt = true, .channels = q->channels, .raw = q->undecoded};
    const struct reel_writer *writer = reel_writer_named(extensions[q->format], NULL, err);
    if (!writer || !cmd_play_read_options(q, &options, err)) {
        return false;
    }
    if (!cli_merged_align(in, &q->merging, err) ||
        !cli_selection(select, in->recordings, in->n, in->sources, &selection, err)) {
        return false;
    }
    selection.prefixing = (enum reel_prefixing)q->merging.prefixing;
    if (!cli_warn_matches(in->recordings, in->n, &selection, err)) {
        return false;
    }
    if (q->to) {
        const struct record_remote_options remote = remote_of(q, in->n > 1 ? "playback" : in->files.items[0].name);
        struct reel_stream *played = cmd_play_open_stream(in, &selection, &options, q->follow, err);
        return played && play_remote(&remote, played, err);
    }
    struct output_file out = {.fd = STDOUT_FILENO};
    struct reel_stream *stream = cmd_play_open_stream(in, &selection, &options, q->follow, err);
    AUTO(reel_row_output_free)
    struct reel_row_output *rows = stream ? reel_row_output_new(writer, &write, stream, err) : NULL;
    AUTO_MEM char *buffer = malloc(PIECE);
    size_t got = 0;
    if (!buffer) {
        return reel_fail_memory(err);
    }
    do {
        if (!rows || !play_await(stream)) {
            return !rows ? false : reel_fail(err, REEL_CANCELLED, "interrupted");
        }
        if (!reel_row_output_next(rows, buffer, PIECE, &got, err) || !cli_output_write(&out, buffer, got, err)) {
            return false;
        }
    } while (got > 0);
    return true;
}

static bool play_from_server(const char *url, const struct cli_select *select, const struct request *q,
                             struct reel_error *err) {
    struct output_file out = {.fd = STDOUT_FILENO};
    struct play_url_options options = {.select = select,
                                       .speed = q->speed,
                                       .rate = q->rate,
                                       .clock = q->clock,
                                       .max_gap = q->max_gap,
                                       .follow = q->follow,
                                       .output = formats[q->format],
                                       .token_file = q->token_file,
                                       .loop = q->loop,
                                       .undecoded = q->undecoded || q->to,
                                       .channels = q->channels || q->to,
                                       .write = cli_output_write,
                                       .context = &out};
    if (!q->to) {
        return play_url(url, &options, err);
    }
    const struct record_remote_options remote = remote_of(q, "playback");
    AUTO(play_bridge_free) struct play_bridge *bridge = play_bridge_open(&remote, err);
    struct reel_error why = {0};
    options.output = "ndjson";
    options.write = play_bridge_write;
    options.context = bridge;
    if (!bridge || (!play_url(url, &options, &why) && why.code != REEL_CANCELLED)) {
        return bridge ? reel_error_pass(err, &why) : false;
    }
    return play_bridge_finish(bridge, err); /* also after Ctrl-C */
}

static int play_files(char **paths, uint32_t n, struct cli_select *select, const struct request *q) {
    AUTO(cli_merged_done) struct cli_merged in = {.n = 0};
    const struct cli_gather_options gather = {.several = "name those to play together"};
    struct reel_error err = {0};
    if (!cli_merged_open(paths, n, &gather, &in, &err)) {
        return cli_fail(&cli_play, NULL, &err);
    }
    if (play_merged(&in, select, q, &err)) {
        return CLI_DONE;
    }
    cli_merged_forget(&in, &err);
    return cli_fail(&cli_play, in.n > 1 ? NULL : in.files.items[0].name, &err);
}

static void play_request_done(struct request *q) {
    reel_auto_option_list_done(&q->pauses);
    reel_auto_option_list_done(&q->merging.shifts);
}

static int run_play(int argc, char **argv) {
    AUTO(cli_select_done) struct cli_select select = {0};
    AUTO_STRUCT(play_request_done) struct request q = {0};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        CLI_SELECT_OPTIONS(select),
        CLI_DEFINITIONS_OPTION,
        {.name = "speed",
         .kind = CLI_TEXT,
         .to = &q.speed,
         .value = "FACTOR",
         .help = "how fast; max: as fast as possible (default 1)"},
        {.name = "rate", .kind = CLI_TEXT, .to = &q.rate, .value = "HZ", .help = "a fixed number of messages a second"},
        {.name = "clock", .kind = CLI_TEXT, .to = &q.clock, .value = "HZ", .help = "add messages of the topic /clock"},
        {.name = "max-gap",
         .kind = CLI_TEXT,
         .to = &q.max_gap,
         .value = "DURATION",
         .help = "shorten longer silences to this"},
        {.name = "pause-topics",
         .kind = CLI_LIST,
         .to = &q.pauses,
         .value = "GLOB",
         .help = "pause when a message of such a topic is due, until Enter; may be repeated"},
        CLI_MERGE_OPTIONS(q.merging),
        {.name = "follow",
         .kind = CLI_TEXT,
         .to = &q.follow,
         .value = "ACTOR",
         .help = "CARLA: positions in the frame of this actor"},
        {.name = "loop", .kind = CLI_FLAG, .to = &q.loop, .help = "begin again at the end"},
        {.name = "output",
         .kind = CLI_CHOICE,
         .to = &q.format,
         .value = "FORMAT",
         .help = "format of the rows",
         .choices = formats},
        CLI_DECODE_OPTIONS(q.decode, q.undecoded),
        {.name = "channels", .kind = CLI_FLAG, .to = &q.channels, .help = "first, print how each topic is defined"},
        {.name = "to",
         .kind = CLI_TEXT,
         .to = &q.to,
         .value = "URL",
         .help = "a server's address: into a live recording there"},
        {.name = "name",
         .kind = CLI_TEXT,
         .to = &q.name,
         .value = "NAME",
         .help = "name of the live recording (default: the file's)"},
        {.name = "collection",
         .kind = CLI_TEXT,
         .to = &q.collection,
         .value = "NAME",
         .help = "its collection (default: \"default\")"},
        {.name = "token-file",
         .kind = CLI_TEXT,
         .to = &q.token_file,
         .value = "FILE",
         .help = "file with the token (default: the environment variable REEL_TOKEN)"},
        {0},
    };
    if (!cli_options(&cli_play, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    q.undecoded = q.undecoded || q.decode == 1;
    cli_catch_interrupt();
    if (!client_is_url(argv[first])) {
        return play_files(argv + first, (uint32_t)(argc - first), &select, &q);
    }
    if (argc - first > 1) {
        return cli_misused(&cli_play, "expected recordings, or the address of one");
    }
    if (q.pauses.count > 0) {
        return cli_misused(&cli_play, "--pause-topics is for files; of an address it is the parameter pause_topic");
    }
    return play_from_server(argv[first], &select, &q, &err) ? CLI_DONE
                                                            : cli_fail(&cli_play, cli_file_name(argv[first]), &err);
}

const struct cli_command cli_play = {
    .name = "play",
    .arguments = "FILE…|URL [OPTION]…",
    .summary = "print the messages of recordings when they are due",
    .details = "The rows are those of cat; each is printed when as much time has passed as in the recording.\n"
               "Several recordings are played as one, as convert merges them.\n"
               "A URL is that of a recording on a server: http://HOST/api/v1/recordings/ID.\n"
               "With --to the messages go into a live recording of a server instead.",
    .run = run_play,
};
