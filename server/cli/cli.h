/* What the subcommands of `reel` share: their table, options, opening files, progress and output files.
 * Exit status: 0 success, 1 failure (the reason is on stderr), 2 invalid command line. */
#ifndef SERVER_CLI_CLI_H
#define SERVER_CLI_CLI_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "app_config.h"
#include "base/output_file.h"
#include "convert/writer.h"
#include "index/scan.h"
#include "reel/threads.h"
#include "reel/time.h"
#include "stream/stream.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli_command {
    const char *name;
    const char *arguments; /* "FILE… [OPTION]…" */
    const char *summary;   /* one line, for the list of commands */
    const char *details;   /* more lines for its own --help; may be NULL */
    int (*run)(int argc, char **argv);
};

/* The commands, as --help lists them: a new one is one line here. */
#define CLI_COMMANDS(X)                                                                                                \
    X(serve)                                                                                                           \
    X(info)                                                                                                            \
    X(cat)                                                                                                             \
    X(play)                                                                                                            \
    X(record)                                                                                                          \
    X(convert)                                                                                                         \
    X(check)                                                                                                           \
    X(import)                                                                                                          \
    X(demo)                                                                                                            \
    X(health)                                                                                                          \
    X(carla)                                                                                                           \
    X(nanover)                                                                                                         \
    X(bag)                                                                                                             \
    X(tide)                                                                                                            \
    X(token)                                                                                                           \
    X(push)                                                                                                            \
    X(get)                                                                                                             \
    X(ls)                                                                                                              \
    X(search)                                                                                                          \
    X(tag)                                                                                                             \
    X(rm)                                                                                                              \
    X(dataset)                                                                                                         \
    X(fsck)                                                                                                            \
    X(scrub)                                                                                                           \
    X(backup)                                                                                                          \
    X(upgrade)                                                                                                         \
    X(migrate)                                                                                                         \
    X(rescan)                                                                                                          \
    X(routes)
#define CLI_DECLARE(name) extern const struct cli_command cli_##name;
CLI_COMMANDS(CLI_DECLARE)

/* cmd_upgrade.c: prints what the next start would do to the catalog of this folder; each line begins with `prefix`. */
bool cli_print_pending(const char *data, const char *prefix, struct reel_error *err);

/* ---- options.c: parsing and --help, both from one table */

struct cli_every { /* "10" = each tenth, "100ms" = one an interval */
    uint64_t n;
    int64_t ns;
    const char *text;
};
struct cli_time {
    bool given;
    const char *text;
    struct reel_time time;
};

enum cli_kind {
    CLI_FLAG,
    CLI_TEXT,
    CLI_LIST,
    CLI_UINT,
    CLI_DURATION, /* in seconds: 10s, 5m, 7d; a number without a unit counts `unit` seconds, as before 1.1 */
    CLI_TIME,
    CLI_EVERY,
    CLI_CHOICE,
    CLI_WRITE
};

struct cli_option { /* tables end with {0} */
    const char *name;
    char letter; /* also -j; 0: none */
    enum cli_kind kind;
    void *to;          /* bool, const char *, option_list, uint64_t, cli_time, cli_every, int (position in choices),
                          cli_write_option */
    const char *value; /* "DIR", as --help shows it; NULL for flags */
    const char *help;  /* NULL: an old name, which --help leaves out */
    const char *const *choices; /* CLI_CHOICE and CLI_WRITE, NULL-terminated */
    uint64_t least, most;       /* CLI_UINT, and in seconds CLI_DURATION; most 0 = no bound */
    uint64_t unit;              /* CLI_UINT: the value is stored multiplied by this; 0 is 1 */
    bool narrow;                /* of both: `to` is an unsigned int */
    /* the default, as text: set before anything is parsed, and printed by --help; NULL: `to` stays */
    const char *initial;
};

/* Sets the defaults, then parses argv into the table's targets. On true, argv[*first …] are the other arguments, at
 * least `required` of them. On false, main returns *exit_code: --help or an error message was printed. */
bool cli_options(const struct cli_command *command, const struct cli_option *options, int required, int argc,
                 char **argv, int *first, int *exit_code);

bool cli_set_defaults(const struct cli_command *command, const struct cli_option *options); /* prints the error */
/* Without setting the defaults; given[i] becomes true if options[i] was on the command line; `given` may be NULL. */
bool cli_options_given(const struct cli_command *command, const struct cli_option *options, int required, int argc,
                       char **argv, int *first, int *exit_code, bool *given);
bool cli_read_value(const struct cli_option *o, const char *text, int most, struct reel_error *err); /* stores one
                                                                                                        value; a list
                                                                                                        holds at most
                                                                                                        `most` */

/* ---- write_options.c: the options that only some writers have (convert/options.h) */
enum { CLI_WRITE_OPTIONS_MAX = 32 };
struct cli_write_option {
    const struct reel_write_option *option;
    char name[32], help[REEL_OPTION_HELP_ROOM + 64];
    struct option_list given;
};
struct cli_write {
    struct cli_write_option items[CLI_WRITE_OPTIONS_MAX];
};
void cli_write_done(struct cli_write *write);
/* Adds them to a table that has `room` rows, the last of them {0}. */
void cli_add_write_options(struct cli_write *write, struct cli_option *options, size_t room);
/* The variant that a given one selects (--storage sqlite3); NULL: none. */
const char *cli_write_variant(const struct cli_write *write);
/* Those that were given, as settings of the library: how many. They need `write`. */
enum { CLI_WRITE_SETTINGS_MAX = REEL_WRITE_VALUES_MAX };
size_t cli_write_settings(const struct cli_write *write, struct reel_pair settings[CLI_WRITE_SETTINGS_MAX]);
/* Those that were given, for this writer. */
bool cli_write_values(const struct cli_write *write, const struct reel_writer *writer, struct reel_write_values *values,
                      struct reel_error *err);

/* ---- settings.c: the same table read from the environment (--cache-mb from REEL_CACHE_MB, or from the file that
 * REEL_CACHE_MB_FILE names) and from a configuration file; lists separated by commas, flags as true or false. */
enum { CLI_OPTIONS_MAX = 64 };
enum cli_from { CLI_FROM_DEFAULT, CLI_FROM_ARGUMENT, CLI_FROM_ENVIRONMENT, CLI_FROM_FILE, CLI_FROM_CONFIG };
struct cli_setting {
    enum cli_from from; /* where the option's value came from */
    char *text;         /* what it points into; NULL: default or argument */
};
struct cli_sources {
    const char **config; /* the target of the option that names the configuration file */
    bool file_only;      /* not from the environment */
    struct cli_setting items[CLI_OPTIONS_MAX];
};
void cli_sources_done(struct cli_sources *s);
bool cli_settings(const struct cli_command *command, const struct cli_option *options, struct cli_sources *s, int argc,
                  char **argv, int *first, int *exit_code);
/* The text of a configuration file, which is split in place; the path is for errors. */
bool cli_read_config(const char *path, char *text, const struct cli_option *options, struct cli_sources *s, int most,
                     struct reel_error *err);
/* One line for each option: its value and where it came from. */
void cli_print_settings(const struct cli_command *command, const struct cli_option *options,
                        const struct cli_sources *s);

/* --decode none, and the flag that it was before 1.1. */
/* clang-format off */
#define CLI_DECODE_OPTIONS(how, none) \
    {.name = "decode", .kind = CLI_CHOICE, .to = &(how), .value = "HOW", .choices = (const char *const[]){"auto", "none", NULL}, \
     .help = "none prints payloads as {\"$base64\": …} instead of decoding them"}, \
    {.name = "no-decode", .kind = CLI_FLAG, .to = &(none)}
/* clang-format on */

/* Adds the tags of --tag KEY=VALUE to `annotations`; NULL: only checks them. */
struct catalog_annotations;
bool cli_tags(const struct option_list *list, struct catalog_annotations *annotations, struct reel_error *err);

/* ---- messages */

/* "reel convert: run.bag: …" on stderr; `subject` may be NULL. Both return CLI_FAILED or CLI_USAGE. */
int cli_fail(const struct cli_command *command, const char *subject, const struct reel_error *err);
__attribute__((format(printf, 2, 3))) int cli_misused(const struct cli_command *command, const char *format, ...);

/* Flushes stdout; false when it could not be written (disk full). */
bool cli_flush(struct reel_error *err);

const char *cli_file_name(const char *path); /* the part after the last slash */

/* ---- progress.c: one line on stderr, only on a terminal and only for work that takes over a second. Ctrl-C cancels
 * the work under way. */

struct cli_progress {
    struct reel_progress report; /* give &p.report to whatever takes one */
    const char *doing, *subject; /* "scanning", "run.bag" */
    bool on_terminal, shown;
    int64_t started_ns, last_ns;
};
void cli_progress_start(struct cli_progress *p, const char *doing, const char *subject);
bool cli_progress_step(struct cli_progress *p, uint64_t done, uint64_t total); /* false: interrupted */
void cli_progress_end(struct cli_progress *p);                                 /* clears the line */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

/* ---- open.c */

/* The parts of one recording. */
enum { CLI_PARTS_MAX = 512 };
struct cli_files {
    const char *const *paths;
    uint32_t n;
    /* the rest by cli_gather() */
    uint32_t main;                    /* the file that names the recording */
    const struct reel_format *format; /* of the first; NULL: unknown */
    char *name;                       /* the file's; in a folder its path below it, or the folder's own name */
    bool in_folder;                   /* found in a folder that was given */
};

/* Opens files as a recording. Its index pack is kept in the user's cache folder under a name derived from paths, sizes,
 * times and inodes, and used again while these are unchanged; `rescan` scans again. Without a cache folder the pack is
 * a temporary file that is gone when the recording is freed. */
struct reel_recording *cli_open(const char *path, bool rescan, struct reel_error *err); /* a file, or a folder */
struct reel_recording *cli_open_files(const struct cli_files *files, bool rescan, struct reel_error *err);

/* From the files' own index, or from a kept index pack; files without an index are scanned. */
struct reel_index *cli_open_summary(const struct cli_files *files, struct reel_error *err);

/* Call after work on these files failed: if the kept index pack turned out to be corrupted (REEL_CHANGED; it is
 * verified as it is read), it is removed, and `err` says to run the command again. */
void cli_forget(const char *path, struct reel_error *err);
void cli_forget_files(const struct cli_files *files, struct reel_error *err);

/* Folders with definitions of messages, for recordings that hold none; read before the first recording is opened. */
extern struct option_list cli_definitions;
#define CLI_DEFINITIONS_OPTION                                                                                         \
    {                                                                                                                  \
        .name = "definitions", .kind = CLI_LIST, .to = &cli_definitions, .value = "DIR",                               \
        .help = "folder whose .msg, .srv and .action files (DIR/PACKAGE/msg/TYPE.msg, at any depth) define "           \
                "messages of recordings that hold no definition; may be repeated"                                      \
    }

/* ---- gather.c: groups the files of a command line into recordings (run.traj and run.state are one), and finds those
 * in its folders (lib/read/folder.h) */

struct folder;
struct cli_recordings {
    const char **paths; /* as given, the parts of one recording adjacent */
    struct cli_files *items;
    struct folder **folders;
    uint32_t n, n_folders;
    size_t room, room_folders;
};
struct cli_gather_options {
    bool deep;           /* all recordings of a folder and its subfolders; else a folder is one recording */
    const char *several; /* what to do with a folder that is not */
    const char *except;  /* a folder that is left out; may be NULL */
    bool own_names;      /* no recording is named after a given folder, only after those below */
    /* all optional: whether a file of a folder is looked at; one that is no recording; a subfolder that cannot be read
     */
    bool (*takes)(void *context, const char *path);
    void (*passed)(void *context, const char *path);
    void (*refused)(void *context, const char *folder, const struct reel_error *why);
    void *context;
};
bool cli_gather(char *const *paths, uint32_t n, const struct cli_gather_options *options, struct cli_recordings *out,
                struct reel_error *err);
/* One recording is expected: REEL_ARGUMENT if there are several. */
bool cli_gather_one(char *const *paths, uint32_t n, struct cli_recordings *out, struct reel_error *err);
void cli_recordings_done(struct cli_recordings *r);

/* ---- merged.c: the recordings of a command line as one, ordered by time */

struct cli_merging { /* options */
    struct option_list shifts;
    int align, prefixing; /* enum reel_align, enum reel_prefixing */
};
/* clang-format off */
#define CLI_MERGE_OPTIONS(m) \
    {.name = "align", .kind = CLI_CHOICE, .to = &(m).align, .value = "HOW", .help = "align recordings with relative times to the start of the others (start, the default), or keep all times (none)", \
     .choices = (const char *const[]){"start", "none", NULL}}, \
    {.name = "shift", .kind = CLI_LIST, .to = &(m).shifts, .value = "NAME:TIME", .help = "move one recording from its recorded times, run.bag:2.5s or run.bag:-2.5s, and align none otherwise; may be repeated"}, \
    {.name = "prefix", .kind = CLI_CHOICE, .to = &(m).prefixing, .value = "WHEN", .help = "when to prefix topics with their recording's name; clash (default): if several recordings have the topic", \
     .choices = (const char *const[]){"clash", "always", "never", NULL}}
/* clang-format on */

struct cli_merged {
    struct cli_recordings files;
    struct reel_recording **recordings;
    uint32_t n;                         /* recordings that are open */
    struct reel_source_option *sources; /* NULL: one recording */
};
bool cli_merged_open(char *const *paths, uint32_t n, const struct cli_gather_options *gather, struct cli_merged *out,
                     struct reel_error *err);
bool cli_merged_align(struct cli_merged *merged, const struct cli_merging *how, struct reel_error *err); /* sets sources
                                                                                                          */
/* After work on them failed: as cli_forget(). */
void cli_merged_forget(const struct cli_merged *merged, struct reel_error *err);
void cli_merged_done(struct cli_merged *merged);
static inline void reel_auto_cli_merged_done(struct cli_merged *merged) {
    cli_merged_done(merged);
}

/* ---- the options of cat and convert as a selection of these recordings */

struct cli_select {
    struct option_list topics, exclude, channels, renames, where;
    uint32_t *channel_ids; /* of cli_selection() */
    struct cli_time start, end;
    struct cli_every every;
    bool last;
};
static inline void reel_auto_cli_select_done(struct cli_select *s) {
    reel_auto_option_list_done(&s->topics);
    reel_auto_option_list_done(&s->exclude);
    reel_auto_option_list_done(&s->channels);
    reel_auto_option_list_done(&s->renames);
    reel_auto_option_list_done(&s->where);
    free(s->channel_ids);
}
/* The threads that --render-threads asks for. */
static inline struct reel_threads *cli_threads(uint64_t n, struct reel_error *err) {
    return reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = (unsigned)n}, err);
}
/* clang-format off */
#define CLI_THREADS_OPTION(n) \
    {.name = "render-threads", .kind = CLI_UINT, .to = &(n), .value = "N", .most = 256, .initial = "0", \
     .help = "threads that output of more than 64 MiB is rendered on; 0: one for each core"}
#define CLI_SELECT_OPTIONS(s) \
    {.name = "topic", .kind = CLI_LIST, .to = &(s).topics, .value = "GLOB", \
     .help = "only topics that match (*: any characters, ?: one character); may be repeated"}, \
    {.name = "exclude-topic", .kind = CLI_LIST, .to = &(s).exclude, .value = "GLOB", .help = "leave out topics that match; may be repeated"}, \
    {.name = "exclude", .kind = CLI_LIST, .to = &(s).exclude, .value = "GLOB"}, \
    {.name = "channel", .kind = CLI_LIST, .to = &(s).channels, .value = "ID", \
     .help = "only the channel with this id, as reel info --json lists them; may be repeated"}, \
    {.name = "where", .kind = CLI_LIST, .to = &(s).where, .value = "CONDITION", \
     .help = "of a topic only the messages for which it holds: /odom.twist.twist.linear.x>0.5, joined by and, or and parentheses; " \
             "may be repeated"}, \
    {.name = "rename", .kind = CLI_LIST, .to = &(s).renames, .value = "FROM:TO", .help = "give a topic another name; may be repeated"}, \
    {.name = "start", .kind = CLI_TIME, .to = &(s).start, .value = "TIME", \
     .help = "start time: RFC 3339, 1274213891.5s, +2.5s (after the recording's start) or -2.5s (before its end)"}, \
    {.name = "end", .kind = CLI_TIME, .to = &(s).end, .value = "TIME", .help = "end time; messages at this time are not included"}, \
    {.name = "every", .kind = CLI_EVERY, .to = &(s).every, .value = "N|DURATION", \
     .help = "every N-th message of a topic, or the first in each interval (100ms)"}, \
    {.name = "last", .kind = CLI_FLAG, .to = &(s).last, .help = "with --start: also the last earlier message of each topic"}
/* clang-format on */
/* `sources` of reel_merge_options(), or NULL; times like +2s count from the first start and the last end of all. */
/* A line on stderr when the selection has no message. */
bool cli_warn_matches(struct reel_recording *const *recordings, uint32_t n, const struct reel_selection *selection,
                      struct reel_error *err);
bool cli_selection(struct cli_select *s, struct reel_recording *const *recordings, uint32_t n,
                   const struct reel_source_option *sources, struct reel_selection *out, struct reel_error *err);

/* ---- output.c: output files, with a hint at --force and REEL_CANCELLED after Ctrl-C */
bool cli_output_open(struct output_file *o, const char *path, bool replace, struct reel_error *err);
bool cli_output_write(void *output_file, const void *data, size_t size, struct reel_error *err);

#endif
