/* reel carla: the output of CARLA's own tools for a recorder file, without the simulator. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "cli/cli.h"
#include "formats/carla/question.h"

static const char *const topics[] = {"info",       "collisions", "blocked", "actors",
                                     "trajectory", "state",      NULL}; /* as enum reel_carla_topic */
static const char *const formats[] = {"text", "csv", "json", "ndjson", "parquet", "arrows", NULL};
static const char *const frames[] = {"carla", "ros", NULL};

struct request {
    struct reel_carla_question question;
    int format; /* position in formats */
    const char *at;
};

struct writing {
    struct output_file out;
    struct reel_error err; /* of the failed write */
};
static bool cmd_carla_put(void *context, const char *text, size_t size) {
    struct writing *w = context;
    return cli_output_write(&w->out, text, size, &w->err);
}

static bool run_report(const char *path, const struct request *q, struct reel_error *err) {
    struct writing w = {.out = {.fd = STDOUT_FILENO}};
    const struct reel_text_sink sink = {.put = cmd_carla_put, .context = &w};
    AUTO(reel_recording_free) struct reel_recording *recording = cli_open(path, false, err);
    if (!recording) {
        return false;
    }
    struct reel_carla_question question = q->question;
    struct reel_time at;
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    question.at_ns = info->end_ns;
    if (q->at && !(reel_time_parse(q->at, 1, &at, err) &&
                   reel_time_within(&at, info->start_ns, info->end_ns, &question.at_ns, err))) {
        return false;
    }
    AUTO(reel_table_text_free) struct reel_table_text *rows = NULL;
    if (q->format > 0 && !(rows = reel_table_text_new((enum reel_table_form)(q->format - 1), &sink, err))) {
        return false;
    }
    AUTO(reel_carla_free)
    struct reel_carla *pass = reel_carla_open(recording, &question, &sink, rows ? reel_table_of_text(rows) : NULL, err);
    bool done = false;
    while (pass && !done) {
        if (!reel_carla_step(pass, &done, err)) {
            return w.err.code != REEL_OK ? reel_error_pass(err, &w.err) : false;
        }
    }
    return pass != NULL;
}

/* --- the command line --- */

static bool cmd_carla_read_number(const char *text, double *out) {
    double value = 0;
    bool good = !text || (number_real(text, &value) && isfinite(value) && value >= 0);
    *out = text && good ? value : *out;
    return good;
}

/* "30s"; a number alone is seconds. */
static bool read_seconds(const char *text, double *out) {
    int64_t ns;
    bool has_unit = text && reel_duration_parse(text, &ns, NULL);
    *out = has_unit ? (double)ns / 1e9 : *out;
    return has_unit || cmd_carla_read_number(text, out);
}

static bool carla_read_type(const char *text, char *out) {
    bool good = !text || (strlen(text) == 1 && strchr("hvwtoa", text[0]));
    *out = text && good ? text[0] : *out;
    return good;
}

static bool read_actor(const char *text, uint32_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *out = (uint32_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && value <= UINT32_MAX;
}

static int carla_topic_named(const char *name) {
    int i = 0;
    while (topics[i] && strcmp(topics[i], name) != 0) {
        i++;
    }
    return i;
}

struct arguments { /* of the command line */
    bool all;
    const char *dialect, *type1, *type2, *min_time, *min_distance, *at;
    int format, frame;
};

static bool read_arguments(const struct arguments *w, struct reel_carla_question *q, struct reel_error *err) {
    q->all = w->all;
    q->ros_frame = w->frame == 1;
    if (w->dialect && !reel_carla_dialect_named(w->dialect, &q->dialect, err)) {
        return false;
    }
    if (!carla_read_type(w->type1, &q->type1) || !carla_read_type(w->type2, &q->type2)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "a type is h (hero), v (vehicle), w (walker), t (traffic light), o (other) or a (any)");
    }
    bool numbers =
        read_seconds(w->min_time, &q->min_time_s) && cmd_carla_read_number(w->min_distance, &q->min_distance_cm);
    return numbers ||
           reel_fail(err, REEL_ARGUMENT,
                     "--min-time must be a duration, such as 30s, and --min-distance a number, 0 or greater");
}

static int run_subcommand(char **rest, int n, const struct arguments *w) {
    struct reel_error err = {0};
    int topic = carla_topic_named(rest[0]);
    if (!topics[topic]) {
        return cli_misused(&cli_carla, "\"%s\" is not one of info, collisions, blocked, actors, trajectory, state",
                           rest[0]);
    }
    bool of_one = topic == REEL_CARLA_TRAJECTORY;
    if (n != (of_one ? 3 : 2)) {
        return cli_misused(&cli_carla,
                           of_one ? "trajectory needs a file and an actor: FILE ACTOR" : "expected one file");
    }
    struct request q = {
        .question = reel_carla_question((enum reel_carla_topic)topic), .format = w->format, .at = w->at};
    q.format = w->format < 0 ? (topic > REEL_CARLA_BLOCKED ? 1 : 0) : w->format; /* CARLA has no text form of the
                                                                                    others: CSV */
    if (!read_arguments(w, &q.question, &err)) {
        return cli_misused(&cli_carla, "%s", err.text);
    }
    if (of_one && !read_actor(rest[2], &q.question.actor)) {
        return cli_misused(&cli_carla, "\"%s\" is not an actor number", rest[2]);
    }
    cli_catch_interrupt();
    if (run_report(rest[1], &q, &err)) {
        return CLI_DONE;
    }
    cli_forget(rest[1], &err);
    return cli_fail(&cli_carla, cli_file_name(rest[1]), &err);
}

static int cmd_carla_run(int argc, char **argv) {
    struct arguments w = {.format = -1};
    int first, code;
    const struct cli_option options[] = {
        {.name = "all", .kind = CLI_FLAG, .to = &w.all, .help = "info: also print the state of every frame"},
        {.name = "dialect",
         .kind = CLI_TEXT,
         .to = &w.dialect,
         .value = "VERSION",
         .help = "info: print it as this CARLA version does (default 0.9.15)"},
        {.name = "type1",
         .kind = CLI_TEXT,
         .to = &w.type1,
         .value = "TYPE",
         .help = "collisions: type of the first actor: h, v, w, t, o, a (hero, vehicle, walker, traffic light, other, "
                 "any)"},
        {.name = "type2",
         .kind = CLI_TEXT,
         .to = &w.type2,
         .value = "TYPE",
         .help = "collisions: type of the second actor"},
        {.name = "min-time",
         .kind = CLI_TEXT,
         .to = &w.min_time,
         .value = "DURATION",
         .help = "blocked: shortest time (default 30s)"},
        {.name = "min-distance",
         .kind = CLI_TEXT,
         .to = &w.min_distance,
         .value = "CM",
         .help = "blocked: moved less than this (default 10)"},
        {.name = "at", .kind = CLI_TEXT, .to = &w.at, .value = "TIME", .help = "state: the time (default: the end)"},
        {.name = "frame",
         .kind = CLI_CHOICE,
         .to = &w.frame,
         .value = "FRAME",
         .help = "trajectory, state: left-handed coordinates, or right-handed as in ROS",
         .choices = frames},
        {.name = "output",
         .kind = CLI_CHOICE,
         .to = &w.format,
         .value = "FORMAT",
         .help = "CARLA's own text, or rows",
         .choices = formats},
        {0},
    };
    if (!cli_options(&cli_carla, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    return run_subcommand(argv + first, argc - first, &w);
}

const struct cli_command cli_carla = {
    .name = "carla",
    .arguments = "info|collisions|blocked|actors|trajectory|state FILE [ACTOR] [OPTION]…",
    .summary = "print what CARLA's own tools print about a recorder file",
    .details = "info, collisions and blocked print what CARLA prints, byte for byte. actors, trajectory and state, "
               "which CARLA lacks, print\n"
               "rows; so does --output for the others. state prints the living actors, with positions between frames.",
    .run = cmd_carla_run,
};
