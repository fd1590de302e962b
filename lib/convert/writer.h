/* Writers. A writer only appends to a sink, group by group. Run over a counting sink it yields the length of the result
 * and the offset of each group; run again it renders any group, or a part of one. So a conversion has a length, an ETag
 * and byte ranges, needs no temporary file and never seeks back.
 *
 * Groups, in file order: the head (0), runs of messages, the parts of the tail. A group of at most REEL_GROUP_WHOLE_MAX
 * bytes is rendered whole into memory, so that a writer may patch a checksum into it; a larger one (one huge message)
 * is rendered in windows. */
#ifndef REEL_CONVERT_WRITER_H
#define REEL_CONVERT_WRITER_H

#include "base/sink.h"
#include "convert/options.h"
#include "reel/convert.h"
#include "stream/stream.h"

enum {
    REEL_NEEDS_PAYLOAD_TO_PLAN = 1, /* planning renders through the hashing sink: out->crc is right while planning */
    REEL_NEEDS_STATE_AT_CUT = 2,    /* a selection with a start gets the encodings' state in front */
    REEL_STREAMED = 4,              /* length is not known ahead: no plan, rendered once from front to back */
    REEL_REBASES_CUT = 8,           /* times of a cut count from its start (reel_write_time()) */
    REEL_KEEPS_TOPICS = 16, /* topics mean something to this target: they get no prefix when recordings are merged */
    REEL_NAMES_FOLDER = 64, /* options.name is in the bytes */
    REEL_DECODES = 128, /* payloads are decoded to values: decode, and the version of the encodings, decide the bytes */
    REEL_COMPRESSES = 32,    /* by libraries of this machine, whose versions decide the bytes: part of every ETag, by
                                view_version */
    REEL_HEAD_FIRST = 256,   /* head() does not depend on what follows: an output with packed groups is written in one
                                pass */
    REEL_PACKS_PLAIN = 1024, /* looks at w->packs_plain; its groups are of a few MiB */
    REEL_HEAD_LAST = 512,    /* it alone depends on that, and not its size: the same for an output whose head can be
                                rewritten */
    /* Of a writer that needs payloads to plan and packs: its groups are hashed where they are packed, for
     * w->packed_crc, and the sink of messages() does not hash. */
    REEL_HASHES_PACKED = 2048,
};
enum { REEL_GROUP_WHOLE_MAX = 8 << 20 };
/* Which options that several writers have this one takes; for the others they mean nothing. */
enum {
    REEL_TAKES_VALUES = 1,   /* raw, fields, time_format */
    REEL_TAKES_CHANNELS = 2, /* channels */
    REEL_TAKES_END = 4,      /* separated */
};

__attribute__((format(printf, 4, 5))) void reel_loss_add(struct reel_loss *loss, enum reel_loss_kind kind,
                                                         const struct reel_channel *channel, const char *text,
                                                         ...); /* loss, channel may be NULL */
/* Notes that the list is not complete where `why` is transient, such as no memory: reel_writer_accepts() fails with it.
 */
void reel_loss_fail(struct reel_loss *loss, const struct reel_error *why);

/* Memory that a writer takes beyond what its channels and largest payload let one expect: of images that it draws. Any
 * thread. */
struct reel_room {
    bool (*take)(void *context, uint64_t bytes, struct reel_error *err); /* false: there is none for it */
    void (*give)(void *context, uint64_t bytes);
    void *context;
};

enum reel_time_format {
    REEL_TIME_RFC3339,
    REEL_TIME_SECONDS,
    REEL_TIME_MILLISECONDS,
    REEL_TIME_NANOSECONDS,
    REEL_TIME_RELATIVE
};

struct reel_write_options {
    const char *compression; /* "", "zstd", "lz4", "bz2" */
    bool is_cut;             /* the selection has a start */
    int64_t start_ns;        /* what REEL_REBASES_CUT counts from */
    bool separated;          /* text targets: end with the {"$end":…} record */
    enum reel_time_format time_format;
    uint64_t limit; /* REEL_STREAMED only: stop after this many messages, 0 = all */
    bool channels;  /* rows: first, a row {"$channel": …} for each channel, as formats/rows/append.h reads them */
    bool raw;       /* text targets: payloads as bytes, not decoded */
    bool prompt;    /* text targets: reel_row_output_next() gives each message as soon as the stream does */
    const char *const *fields; /* text targets: of each payload only these paths (decode/fields.h); none: all of it */
    uint32_t n_fields;
    const char *name;              /* REEL_NAMES_FOLDER only: of the folder in an archive; NULL: the format's name */
    const char *const *source_ids; /* text rows over several recordings: the id of each; NULL: no "recording" field */
    struct reel_room room;         /* take NULL: it is not counted */
    const struct reel_write_value *values; /* of the writer's own options, as reel_writer_set_option() checks them */
    uint32_t n_values;
};

struct reel_plan;
struct reel_write; /* one run of a writer: planning or rendering */
struct reel_recorder_ops;

struct reel_writer {
    const char *name;      /* "mcap" */
    const char *extension; /* of /as/{name}.EXT and of `reel convert`: ".mcap" */
    const char *variant;   /* the value of ?version=: "1.2"; NULL = the only version or the default */
    const char *media_type;
    const struct reel_write_option *options; /* its own; NULL: none */
    const char *compressions; /* values of options.compression besides "", separated by spaces; NULL: none */
    unsigned needs;
    unsigned takes;
    unsigned version;   /* part of every ETag: raise it when one output byte changes */
    size_t totals_size; /* zeroed struct of what is known after planning (write->totals) */
    size_t run_size;    /* zeroed struct of one run (write->run) */

    const char *leaves_out; /* optional: which messages planning may leave out, for the report: "that …" */
    const char *encoding;   /* optional: messages are converted to it where they can be, unless the selection names
                               another one */

    /* Optional: what the target sees instead of the stream (messages of other bytes, of other channels). Takes `source`
     * over, also when it fails; gives it back as it is when nothing is to be changed. */
    struct reel_stream *(*view)(struct reel_stream *source, struct reel_error *err);

    /* Can this target hold the channel? False: refused, the reason added to loss. Also adds what would be lost or
     * changed. */
    bool (*accepts)(const struct reel_channel *channel, struct reel_loss *loss);
    /* Optional, for what is not about one channel (several recordings, attachments). */
    bool (*accepts_all)(const struct reel_stream *stream, struct reel_loss *loss);

    /* Optional: whether planning this stream makes the whole output, so that it is not done merely to know its length.
     */
    bool (*is_costly)(const struct reel_stream *stream);

    bool (*open)(struct reel_write *w, struct reel_error *err); /* optional: prepares run */
    void (*close)(struct reel_write *w);                        /* optional; also after a failed open */

    bool (*head)(struct reel_write *w, struct reel_sink *out, struct reel_error *err);
    /* Takes messages with reel_write_next() until the group is complete or there are no more; at least one. */
    bool (*messages)(struct reel_write *w, struct reel_sink *out, struct reel_error *err);
    /* Optional: how many groups the tail has; known once the messages are planned. */
    uint64_t (*tail_parts)(struct reel_write *w);
    bool (*tail)(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

    const struct reel_recorder_ops *recorder; /* record/record.h; NULL: reel/record.h cannot write this format */
};

/* One planned group of messages, in file order. */
struct reel_group {
    uint64_t offset; /* in the output */
    uint64_t size;
    uint64_t first; /* ordinal of its first message in the stream */
    uint32_t count; /* messages */
    uint32_t note_size;
    const uint8_t *note; /* what the writer left with reel_write_note() while planning */
    bool kept;           /* its bytes are kept (struct reel_keep) */
};

struct reel_write {
    const struct reel_writer *writer;
    const struct reel_write_options *options;
    struct reel_stream *stream;
    void *totals; /* shared by all runs; written only while planning */
    void *run;    /* this run's own */
    bool planning;
    bool packing;     /* messages() renders a group for which planning has called reel_write_pack() */
    bool packs_plain; /* while planning: the output is written or hashed meanwhile, so groups are packed also without
                         compression: the messages are not merged once more (taken_messages.h) */
    uint64_t group;   /* the message group being emitted, 0 … ; valid in messages() */
    uint64_t before;  /* REEL_STREAMED: messages of the groups before this one; in tail(): of all */
    uint64_t base;    /* where the writer's file begins in the output, when it is a member of another file */
    /* In tail() while planning, REEL_HASHES_PACKED: of all groups of messages; 0: the sink has hashed them. */
    uint64_t packed_size;
    uint32_t packed_crc;
};

/* The messages taken so far while planning; all of them when rendering. */
struct reel_write_counts {
    uint64_t *by_channel; /* by position in the stream's channels */
    uint64_t messages;
    int64_t first_ns, last_ns; /* smallest and largest time; 0 without messages */
};
const struct reel_write_counts *reel_write_counts(const struct reel_write *w); /* not of REEL_STREAMED writers */

/* The next message of this group. REEL_STEP_END: close the group (end of stream, or as many as were planned). */
enum reel_step reel_write_next(struct reel_write *w, struct reel_message *m, struct reel_error *err);
/* Returns the message just taken: it opens the next group, and this one ends. */
void reel_write_unget(struct reel_write *w, const struct reel_message *m);
/* Appends the payload. While counting no byte is read. */
bool reel_write_payload(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                        struct reel_error *err);
/* Appends the bytes of an attachment of `reader`'s recording; pieces that the sink discards are not read. */
bool reel_write_attachment(struct reel_reader *reader, const struct reel_attachment *attachment, struct reel_sink *out,
                           struct reel_error *err);
/* m's time, rebased when the writer says so. */
int64_t reel_write_time(const struct reel_write *w, const struct reel_message *m);
/* The value of an option of the writer's table, else the row's initial one, else 0; and the i-th text of a choice or
 * of globs, NULL: there are no more. */
uint64_t reel_write_option_u64(const struct reel_write *w, const char *name);
const char *reel_write_option_text(const struct reel_write *w, const char *name, uint32_t i);

/* While planning, in messages(): the size of this group is known only when it is rendered, because it is compressed.
 * Planning has then only decided which messages it has, without reading them, and emits about as many bytes as it can
 * have at most. The group is rendered once more to be planned (`packing`), and again if it has more bytes than that:
 * each time it emits all of its bytes and leaves its note, whatever the run still has of the time before. That happens
 * on other threads, for several groups at a time and while later ones are planned, so it reads of the totals only what
 * planning this group or an earlier one has set and changes nothing in them; the output's position is not known. The
 * bytes are kept where possible, else rendered again. */
void reel_write_pack(struct reel_write *w);
/* While planning or packing, in messages() or tail(): keeps bytes with this group. While rendering it does nothing. */
bool reel_write_note(struct reel_write *w, const void *data, size_t size, struct reel_error *err);
/* While planning, for a writer that runs through the stream itself: how many messages of it are done. False: planning
 * was cancelled. */
bool reel_write_progress(const struct reel_write *w, uint64_t messages, struct reel_error *err);
/* While planning: so many messages are left out, for the reason in writer->leaves_out. */
void reel_write_leave_out(struct reel_write *w, uint64_t messages);
/* Memory that lives with the plan (for totals), zeroed. */
void *reel_write_keep(struct reel_write *w, size_t size, struct reel_error *err);
uint64_t reel_write_groups(const struct reel_write *w); /* message groups planned so far */
const struct reel_group *reel_write_group(const struct reel_write *w, uint64_t group);
uint64_t reel_write_tail_offset(const struct reel_write *w, uint64_t part); /* from `base` on; parts planned so far */
/* Runs the messages of group g through visit(), in order, payloads not read; for tails that need the positions of
 * single messages. Not inside messages(). */
bool reel_write_walk(struct reel_write *w, uint64_t group,
                     bool (*visit)(struct reel_write *w, const struct reel_message *m, void *context,
                                   struct reel_error *err),
                     void *context, struct reel_error *err);

/* The table of writers, NULL-terminated (formats/formats.c). */
extern const struct reel_writer *const reel_writers[];

enum { REEL_OPTION_HELP_ROOM = 256 };
/* The i-th option that any writer has, once for each name; help begins with the outputs that take it: ".mp4: at most
 * …". NULL: there are no more. */
const struct reel_write_option *reel_write_option_at(size_t i, char help[REEL_OPTION_HELP_ROOM]);
/* Adds a value of an option. REEL_ARGUMENT where the writer has no such option: the error names those that it has, in
 * the form of the command line or of parameters. */
bool reel_writer_set_option(const struct reel_writer *writer, const char *name, const char *text, bool command_line,
                            struct reel_write_values *values, struct reel_error *err);

/* The stream that this writer takes, through its view. Whoever plans, renders or asks what is accepted opens his stream
 * so. */
struct reel_stream *reel_writer_stream(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                       uint32_t n_recordings, const struct reel_selection *selection,
                                       struct reel_error *err);

/* The same in two steps: several streams share an opened selection. `with_initial_state`: as for selection_stream(). */
struct opened_selection;
struct opened_selection *writer_selection(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                          uint32_t n, const struct reel_selection *selection, struct reel_error *err);
struct reel_stream *writer_stream(const struct reel_writer *writer, struct opened_selection *opened,
                                  bool with_initial_state, struct reel_error *err);

/* Adds to `loss` (may be NULL) what would be lost or changed. False when the writer refuses: err has the first reason.
 */
bool reel_writer_accepts(const struct reel_writer *writer, struct reel_stream *stream, struct reel_loss *loss,
                         struct reel_error *err);

/* Plans the whole output; runs the stream once. The plan does not keep the stream. Not for REEL_STREAMED writers. */
struct reel_plan *reel_plan_new(const struct reel_writer *writer, const struct reel_write_options *options,
                                struct reel_stream *stream, const struct reel_progress *progress,
                                struct reel_error *err);
struct reel_plan *reel_plan_ref(struct reel_plan *plan);
void reel_plan_free(struct reel_plan *plan); /* gives one reference back */
uint64_t reel_plan_length(const struct reel_plan *plan);
/* Adds what only planning finds: how many messages are left out. plan NULL: nothing. */
void reel_plan_report(const struct reel_plan *plan, struct reel_loss *loss);
struct reel_initial_state *reel_plan_initial_state(const struct reel_plan *plan); /* for the selection of a stream to
                                                                                     render with; NULL = none. Not a new
                                                                                     reference */
uint64_t reel_plan_memory(const struct reel_plan *plan);                          /* bytes it occupies, for caches */
uint64_t reel_plan_kept(const struct reel_plan *plan); /* bytes of packed groups that are kept (struct reel_keep) */
void reel_plan_forget(struct reel_plan *plan); /* keeps them no longer; what is being rendered goes on reading them */
REEL_DEFINE_AUTO(struct reel_plan, reel_plan_free);

/* Where a plan keeps the bytes of packed groups, so that they are compressed once: an unlinked file. */
struct reel_keep {
    const char *folder;
    bool (*take)(void *context, uint64_t bytes); /* reserves room; false: there is none, and nothing more is kept */
    void (*give)(void *context, uint64_t bytes); /* gives it back, on any thread */
    void *context;
};

/* Any bytes of a planned output, for one reader. The stream is at its start, opened like the one that was planned with;
 * it is taken over, also on failure. */
struct reel_planned_output;
struct reel_planned_output *reel_planned_output_new(struct reel_plan *plan, struct reel_stream *stream,
                                                    struct reel_error *err);
void reel_planned_output_free(struct reel_planned_output *output); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_planned_output, reel_planned_output_free);
/* Bytes [offset, offset + size); touches only the groups they lie in. */
bool reel_planned_output_read(struct reel_planned_output *output, uint64_t offset, void *buffer, size_t size,
                              struct reel_error *err);
/* What is read next ends at `end`: if that is a small part of a group, no more of it is rendered. */
void reel_planned_output_expect(struct reel_planned_output *output, uint64_t end);

/* The output of a REEL_STREAMED writer, from front to back. The stream is taken over, also on failure; its messages
 * from where it is are written. */
struct reel_row_output;
struct reel_row_output *reel_row_output_new(const struct reel_writer *writer, const struct reel_write_options *options,
                                            struct reel_stream *stream, struct reel_error *err);
void reel_row_output_free(struct reel_row_output *output); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_row_output, reel_row_output_free);
/* The next at most `size` bytes; *got 0: it is complete. */
bool reel_row_output_next(struct reel_row_output *output, void *buffer, size_t size, size_t *got,
                          struct reel_error *err);
/* Of an output that waits for messages: gives back what the next call gets again. */
void reel_row_output_rest(struct reel_row_output *output);

#endif
