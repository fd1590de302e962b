/* reel convert: converts recordings with the writers that the server uses for /as/. */
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/each.h"
#include "cli/folder_output.h"
#include "convert/conversion.h"
#include "convert/split.h"
#include "definitions/rules.h"
#include "formats/nanover/question.h"
#include "stream/view.h"

enum { JOBS_MAX = 64 };
#define NO_RUN UINT64_MAX

struct conversion {
    struct cli_select select;
    const char *version, *compression, *format, *view, *split, *rules_file;
    struct message_rules *rules; /* of that file; NULL: none */
    const char **renames;        /* of the options and of the rules */
    struct cli_write write;
    struct reel_write_values values; /* of `write`, for the writer */
    struct cli_merging merging;
    bool report, force, raw, wrap;
    bool folder;      /* the output is a folder: a ROS 2 bag */
    int ros;          /* index in dialects; -1: not given */
    uint64_t jobs;    /* conversions at once, into a folder */
    uint64_t threads; /* of a conversion; 0: one for each core */
    uint64_t run;     /* of a NanoVer recording, or NO_RUN */
    struct cli_merged in;
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct reel_selection selection;
    struct reel_threads *pool;
    struct reel_conversion *opened; /* of the file that is written, or reported on */
};
static const char *const dialects[] = {"1", "2", NULL}, *const encodings[] = {"ros1", "cdr"};

static inline void reel_auto_conversion_done(struct conversion *c) {
    reel_conversion_free(c->opened);
    reel_threads_free(c->pool);
    rules_free(c->rules);
    free(c->renames);
    cli_write_done(&c->write);
    reel_auto_option_list_done(&c->merging.shifts);
    cli_merged_done(&c->in);
    reel_auto_cli_select_done(&c->select);
}

/* The longest known extension that the name ends with: ".nanover.zip" before ".zip". */
static const char *extension_of(const char *path) {
    size_t size = strlen(path), best = 0;
    for (size_t i = 0; reel_writers[i]; i++) {
        size_t n = strlen(reel_writers[i]->extension);
        if (n > best && n < size && strcmp(path + size - n, reel_writers[i]->extension) == 0) {
            best = n;
        }
    }
    const char *dot = strrchr(cli_file_name(path), '.');
    return best > 0 ? path + size - best : dot ? dot : "";
}

/* A ROS 2 bag without an archive around it. */
static bool writes_folder(const struct conversion *c) {
    return c->format && strcmp(c->format + (c->format[0] == '.'), "rosbag2") == 0;
}

static bool choose_writer(struct conversion *c, const char *out, struct reel_error *err) {
    AUTO_MEM char *extension = NULL;
    c->folder = writes_folder(c);
    if (c->folder) {
        return (c->writer = reel_writer_named(".rosbag2.tar", cli_write_variant(&c->write), err)) != NULL;
    }
    if (c->format ? asprintf(&extension, "%s%s", c->format[0] == '.' ? "" : ".", c->format) < 0
                  : !(extension = strdup(extension_of(out)))) {
        return reel_fail_memory(err);
    }
    if (extension[0] == '\0') {
        return reel_fail(err, REEL_ARGUMENT, "%s has no extension of a known format; use --format",
                         strcmp(out, "-") == 0 ? "standard output" : out);
    }
    const char *version = c->version ? c->version : cli_write_variant(&c->write);
    return (c->writer = reel_writer_named(extension, version, err)) != NULL;
}

/* The rules of --rules, and the renamed topics of both. */
static bool add_rules(struct conversion *c, struct reel_error *err) {
    if (!c->rules) {
        return true;
    }
    free(TAKE(c->renames));
    c->selection.rules = &c->rules->ros.base;
    return rules_add_renames(c->rules, &c->selection, &c->renames, err);
}

static bool select_messages(struct conversion *c, struct reel_error *err) {
    if (c->run != NO_RUN && (c->in.n > 1 || c->select.start.given || c->select.end.given)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "--run needs a single recording and cannot be combined with --start or --end");
    }
    if (!cli_selection(&c->select, c->in.recordings, c->in.n, c->in.sources, &c->selection, err) ||
        !add_rules(c, err)) {
        return false;
    }
    c->selection.prefixing = (enum reel_prefixing)c->merging.prefixing;
    if (c->view && !(c->selection.view = view_named(c->view, c->raw, err))) {
        return false;
    }
    if (c->ros >= 0 && c->wrap) {
        return reel_fail(err, REEL_ARGUMENT,
                         "--ros converts messages and --wrap keeps them as they are; use one of them");
    }
    c->selection.encoding = c->ros >= 0 ? encodings[c->ros] : c->wrap ? "" : NULL;
    if (!cli_write_values(&c->write, c->writer, &c->values, err)) {
        return false;
    }
    c->options = (struct reel_write_options){.compression = c->compression ? c->compression : "",
                                             .is_cut = c->select.start.given,
                                             .values = c->values.items,
                                             .n_values = c->values.n};
    if (c->options.is_cut) {
        c->options.start_ns = c->selection.start_ns;
        c->selection.key_frames = !(c->writer->needs & REEL_STREAMED);
        c->selection.state_at_cut = (c->writer->needs & REEL_NEEDS_STATE_AT_CUT) != 0;
    }
    return c->run == NO_RUN || reel_nanover_run(c->in.recordings[0], c->run, &c->selection, &c->options, err);
}

/* The name of what is written: the file's without its extension, or the folder's. malloc'd. */
static char *output_name(const struct conversion *c, const char *path) {
    const char *file = cli_file_name(path);
    if (!c->folder) {
        return strndup(file, strlen(file) - strlen(extension_of(path)));
    }
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        end--;
    }
    const char *slash = memrchr(path, '/', end);
    size_t begin = slash && end > 1 ? (size_t)(slash + 1 - path) : 0;
    return strndup(path + begin, end - begin);
}

/* Opens the conversion to `path`. */
static bool open_conversion(struct conversion *c, const char *path, struct reel_error *err) {
    AUTO_MEM char *name = output_name(c, path);
    struct reel_write_options options = c->options;
    if (!name) {
        return reel_fail_memory(err);
    }
    options.name = name;
    reel_conversion_free(TAKE(c->opened));
    return (c->pool || (c->pool = cli_threads(c->threads, err))) &&
           (c->opened =
                reel_conversion_new(c->writer, c->in.recordings, c->in.n, &c->selection, &options, c->pool, NULL, err));
}

static bool warn_matches(const struct conversion *c, struct reel_error *err) {
    char why[REEL_MATCHES_TEXT];
    bool any = true;
    if (c->run == NO_RUN && !reel_conversion_matches(c->opened, true, &any, why, err)) {
        return false;
    }
    if (!any) {
        fprintf(stderr, "reel: warning: %s\n", why);
    }
    return true;
}

/* ---- conversion report */

static void print_losses(FILE *to, const struct reel_loss *loss) {
    static const char *const kinds[] = {[REEL_CHANGES] = "changes", [REEL_LOSES] = "loses", [REEL_REFUSES] = "refuses"};
    size_t n;
    const struct reel_loss_item *items = reel_loss_items(loss, &n);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "%-7s  %s%s%s\n", kinds[items[i].kind], items[i].channel ? items[i].channel : "",
                items[i].channel ? ": " : "", items[i].text);
    }
    if (n == 0 && to == stdout) {
        puts("nothing is lost or changed");
    }
}

static bool report_losses(const struct conversion *c, struct reel_error *err) {
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    struct reel_stream *stream = reel_conversion_stream(c->opened, true, err);
    if (!loss || !stream) {
        return stream ? reel_fail_memory(err) : false;
    }
    bool accepted = reel_writer_accepts(c->writer, stream, loss, err);
    print_losses(c->report ? stdout : stderr, loss);
    return accepted && (!c->report || cli_flush(err));
}

/* ---- writing */

static bool write_output(struct conversion *c, const char *path, struct reel_error *err) {
    AUTO(output_file_done) struct output_file out = {.fd = -1};
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    if (!loss) {
        return reel_fail_memory(err);
    }
    if (!c->folder && !cli_output_open(&out, path, c->force, err)) {
        return false;
    }
    struct cli_progress progress;
    cli_progress_start(&progress, "converting", cli_file_name(path));
    struct reel_output output = {.write = cli_output_write,
                                 .rewrite = !c->folder && output_file_rewrites(&out) ? output_file_rewrite : NULL,
                                 .context = &out};
    bool good = c->folder ? cli_write_folder(c->opened, path, c->force, loss, &progress.report, err)
                          : conversion_write(c->opened, &output, loss, &progress.report, err);
    cli_progress_end(&progress);
    print_losses(stderr, loss);
    return good && (c->folder || output_file_finish(&out, err));
}

/* "out_0000.mcap", "out_0001.mcap" … */
static bool write_parts(struct conversion *c, const char *path, struct reel_error *err) {
    struct reel_split_rule rule;
    uint32_t count;
    if (!reel_split_parse(c->split, &rule, err)) {
        return reel_error_at(err, "--split");
    }
    if (reel_split_is_nanover(&rule) && c->in.n > 1) {
        return reel_fail(err, REEL_ARGUMENT, "--split: runs are those of one recording");
    }
    AUTO_MEM struct reel_split_part *parts =
        reel_split_is_nanover(&rule)
            ? reel_nanover_split(c->in.recordings[0], &c->selection, &c->options, &rule, &count, err)
            : reel_split(c->writer, c->in.recordings, c->in.n, &c->selection, &c->options, &rule, NULL, &count, err);
    const char *extension = extension_of(path);
    for (uint32_t i = 0; parts && i < count; i++) {
        AUTO_MEM char *name = NULL;
        if (asprintf(&name, "%.*s_%04u%s", (int)(strlen(path) - strlen(extension)), path, i, extension) < 0) {
            return reel_fail_memory(err);
        }
        c->selection = parts[i].selection;
        c->options = parts[i].options;
        if (!open_conversion(c, name, err) || !write_output(c, name, err)) {
            return false;
        }
    }
    return parts;
}

static bool convert_convert(struct conversion *c, char **paths, uint32_t n, struct reel_error *err) {
    const char *out = paths[n - 1];
    if (c->split && (strcmp(out, "-") == 0 || writes_folder(c))) {
        return reel_fail(err, REEL_ARGUMENT,
                         "--split writes several files, not to standard output or into a ROS 2 bag");
    }
    const struct cli_gather_options gather = {.several = "name those to merge, or convert into a folder"};
    return choose_writer(c, out, err) && cli_merged_open(paths, n - 1, &gather, &c->in, err) &&
           cli_merged_align(&c->in, &c->merging, err) && select_messages(c, err) && open_conversion(c, out, err) &&
           warn_matches(c, err) && report_losses(c, err) &&
           (c->report || (c->split ? write_parts : write_output)(c, out, err));
}

/* ---- each into a folder */

static bool convert_is_folder(const char *path) {
    struct stat st;
    size_t n = strlen(path);
    return (n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* "out/day1/run.mcap" for "day1/run.bag", its place below a folder that was given. */
static char *path_in_folder(const void *conversion, const char *folder, const struct cli_files *files) {
    const struct conversion *c = conversion;
    const char *place = files->name;
    const char *format = c->format ? c->format : "mcap";
    bool is_file = strcmp(cli_file_name(place), cli_file_name(files->paths[files->main])) == 0; /* not a folder's name
                                                                                                 */
    size_t n = strlen(folder), name = (size_t)(cli_file_name(place) - place),
           stem = strlen(place) - (is_file ? strlen(extension_of(place)) : 0);
    const char *slash = n > 0 && folder[n - 1] == '/' ? "" : "/", *dot = format[0] == '.' ? "" : ".";
    bool is_folder = writes_folder(c); /* a folder has no extension */
    char *out = NULL;
    return asprintf(&out, "%s%s%.*s%s%s", folder, slash, (int)(stem > name ? stem : strlen(place)), place,
                    is_folder ? "" : dot, is_folder ? "" : format) < 0
               ? NULL
               : out;
}

static bool convert_one(const void *all, char **paths, uint32_t n, bool replace, struct reel_error *err) {
    struct conversion c = *(const struct conversion *)all;
    c.in = (struct cli_merged){.n = 0};
    c.renames = NULL;
    c.force = c.force || replace;
    return convert_convert(&c, paths, n, err);
}

/* Whether the folder that is written is one ROS 2 bag, of one recording. */
static bool is_one_bag(const struct conversion *c, char **paths, uint32_t n) {
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    const struct cli_gather_options gather = {.deep = true};
    struct reel_error ignored = {0};
    return writes_folder(c) && (!cli_gather(paths, n, &gather, &all, &ignored) || all.n == 1);
}

static int run_convert(int argc, char **argv) {
    AUTO(conversion_done) struct conversion c = {.run = NO_RUN, .ros = -1};
    struct reel_error err = {0};
    int first, code;
    char views[VIEWS_HELP_ROOM];
    /* clang-format off */
    struct cli_option options[CLI_OPTIONS_MAX + 1] = {
        CLI_SELECT_OPTIONS(c.select),
        {.name = "format", .kind = CLI_TEXT, .to = &c.format, .value = "FORMAT", .help = "output format, if the extension of OUT does not name it: mcap, ndjson, …; rosbag2: OUT is a folder, as `ros2 bag record` writes it"},
        {.name = "version", .kind = CLI_TEXT, .to = &c.version, .value = "VERSION", .help = "version of the output format: 1.2 or 2.0 (default) for .bag, 0.0 (default) or 2.0 for .tide"},
        {.name = "compression", .kind = CLI_TEXT, .to = &c.compression, .value = "CODEC", .help = "compression of the output, such as zstd for .mcap or bz2 for .bag; one that the format does not have is refused with a list of those that it has"},
        {.name = "split", .kind = CLI_TEXT, .to = &c.split, .value = "RULE", .help = "write several files, OUT_0000 and so on, of duration:60s or about size:1GB each, or of a NanoVer recording for each run (reset) or where a key of frame or state gets another value (key:simulation.name)"},
        {.name = "view", .kind = CLI_TEXT, .to = &c.view, .value = "VIEW", .help = views_help(views)},
        {.name = "ros", .kind = CLI_CHOICE, .to = &c.ros, .value = "N", .help = "convert messages of ROS 1 to those of ROS 2 (2), or back (1); bags get those of ROS 1 without it", .choices = dialects},
        {.name = "wrap", .kind = CLI_FLAG, .to = &c.wrap, .help = "ROS bags: keep messages of ROS 2 as they are, in std_msgs/UInt8MultiArray"},
        {.name = "rules", .kind = CLI_TEXT, .to = &c.rules_file, .value = "FILE", .help = "JSON: topics that get other names, and types of ROS whose name or fields change; their payloads are laid out anew"},
        {.name = "raw", .kind = CLI_FLAG, .to = &c.raw, .help = "with --view: keep all channels as they were recorded"},
        CLI_MERGE_OPTIONS(c.merging),
        {.name = "run", .kind = CLI_UINT, .to = &c.run, .value = "N", .help = "only the N-th run of a NanoVer recording: from the N-th reset to the next; 0: before the first reset"},
        {.name = "jobs", .letter = 'j', .kind = CLI_UINT, .to = &c.jobs, .value = "N", .least = 1, .most = JOBS_MAX, .initial = "1", .help = "recordings converted at once, when OUT is a folder"},
        CLI_DEFINITIONS_OPTION,
        CLI_THREADS_OPTION(c.threads),
        {.name = "report", .kind = CLI_FLAG, .to = &c.report, .help = "print what would be lost or changed; write nothing"},
        {.name = "force", .kind = CLI_FLAG, .to = &c.force, .help = "replace OUT if it exists"},
        {0},
    };
    /* clang-format on */
    cli_add_write_options(&c.write, options, CLI_OPTIONS_MAX + 1);
    if (!cli_options(&cli_convert, options, 2, argc, argv, &first, &code)) {
        return code;
    }
    cli_catch_interrupt();
    if (c.rules_file && !(c.rules = rules_load(c.rules_file, &err))) {
        return cli_fail(&cli_convert, NULL, &err);
    }
    if (convert_is_folder(argv[argc - 1]) && !is_one_bag(&c, argv + first, (uint32_t)(argc - first - 1))) {
        const struct cli_each each = {.command = &cli_convert,
                                      .processes = (unsigned)c.jobs,
                                      .always = c.force || c.report,
                                      .silent = c.report,
                                      .path = path_in_folder,
                                      .run = convert_one,
                                      .context = &c};
        return cli_run_each(&each, argv + first, (uint32_t)(argc - first - 1), argv[argc - 1]);
    }
    if (convert_convert(&c, argv + first, (uint32_t)(argc - first), &err)) {
        return CLI_DONE;
    }
    cli_merged_forget(&c.in, &err);
    return cli_fail(&cli_convert, NULL, &err);
}

const struct cli_command cli_convert = {
    .name = "convert",
    .arguments = "IN… OUT [OPTION]…",
    .summary = "convert, cut and merge recordings",
    .details = "The extension of OUT selects the format (run.mcap, run.nanover.zip, run.ndjson, run.bag with --version "
               "1.2); \"-\" is standard\n"
               "output and needs --format. Several recordings are merged by time; run.traj and run.state are one "
               "recording. OUT is complete or\n"
               "not created at all. If OUT is a folder, each recording is converted into a file in it, to MCAP without "
               "--format, those below a\n"
               "folder at the same place; what is there already and not older than its recording is skipped, and one "
               "that fails does not stop "
               "the\n"
               "others. Whatever the output format cannot hold is reported on standard error.",
    .run = run_convert,
};
