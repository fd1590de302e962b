/* Internals of the MIRA tape writer. write.c: header and message blocks · write_channels.c: channels · write_index.c:
 * index tables. Layouts: layout.h. */
#ifndef REEL_FORMATS_MIRA_WRITE_H
#define REEL_FORMATS_MIRA_WRITE_H

#include "base/arena.h"
#include "base/grow.h"
#include "convert/writer.h"
#include "formats/mira/layout.h"

extern const struct reel_format reel_format_mira;
extern const struct reel_writer reel_writer_mira;
extern const struct reel_recorder_ops mira_recorder;

enum {
    MIRA_OUT_META_MAX = 16 << 20 /* the reader drops larger ones */
};

/* A channel of the stream as it is written. */
struct mira_out {
    struct reel_bytes name, type, meta;
    struct reel_bytes frame; /* of all its messages, if they are not known individually */
    bool native, described;  /* from a tape; from another format with sequence numbers */
};

struct mira_run {
    struct arena arena;
    struct mira_out *channels;
    bool zlib, *plain; /* plain: by channel, never compressed */
    bool again;        /* messages that were compressed in their tape are compressed again, whatever their size */
    uint64_t block_max, compress_from;
    uint64_t *index_at;   /* by channel, for rendering: position of its table in the output; 0: no messages */
    uint64_t pass, *seen; /* by channel: the last pass over a group in which it had a message */
    uint32_t *counts;     /* by channel: messages in the group being planned; all 0 between groups */
    uint32_t *touched, n_touched;
    struct grow note;   /* of the group being planned */
    struct grow sizes;  /* stored sizes of its messages that may be compressed */
    struct grow packed; /* one payload, compressed */
};

/* The result of planning; arrays by channel. */
struct mira_totals {
    int64_t start_ns;
    bool started;
    uint64_t *first_group; /* 1 + the group of its first message; 0 = none */
    uint64_t *info_at, *messages, *stored;
    int64_t *first, *last;
    uint32_t *position, *order, n_order; /* of its info among the infos, and back */
};

/* A group's note: i64 first, i64 last, u32 rows, rows x { u32 channel, u32 messages }, then u32 stored sizes. */
enum { MIRA_NOTE_HEAD = 20, MIRA_NOTE_ROW = 8 };
struct mira_note {
    int64_t first, last;
    const uint8_t *rows, *sizes;
    uint32_t n_rows, n_sizes;
};
struct mira_note mira_note_of(const struct reel_group *group);

/* channels */
/* `name`: of the channel in the tape. Texts are those of the channel and of `name`, which must outlive it, or in the
 * arena. */
bool mira_out_channel(struct arena *arena, const struct reel_channel *c, const char *name, struct mira_out *out,
                      struct reel_error *err);
bool mira_out_channels(struct arena *arena, const struct reel_stream *stream, struct mira_out **out,
                       struct reel_error *err);
bool mira_accepts(const struct reel_channel *c, struct reel_loss *loss);
bool mira_accepts_all(const struct reel_stream *stream, struct reel_loss *loss);
/* of the first recording; NULL: not found */
const char *mira_metadata(const struct reel_stream *stream, const char *key);

/* groups */
bool mira_out_time(const struct reel_write *w, const struct reel_message *m, int64_t *time, struct reel_error *err);
bool mira_may_compress(const struct reel_write *w, const struct reel_message *m);
uint64_t mira_message_size(const struct reel_write *w, const struct reel_message *m, uint32_t stored); /* of the whole
                                                                                                          field */
uint64_t mira_info_size(const struct mira_out *c);
struct mira_info_links { /* what is not known before the end of the tape */
    uint64_t next, stored, index;
    int64_t first, last;
};
void mira_put_info_field(struct reel_sink *out, const struct mira_out *c, const struct mira_info_links *links);
struct mira_tape_head {
    uint32_t version, blocks;
    int64_t start_ns, utc_ns;
    uint64_t first_info;
};
void mira_put_tape_head(struct reel_sink *out, const struct mira_tape_head *head);
/* Does the channel's info precede this message? `group` is the current group; run->pass must be increased before each
 * pass over a group. */
bool mira_is_first(struct reel_write *w, uint32_t channel, uint64_t group);
void mira_put_info(struct reel_write *w, uint32_t channel, struct reel_sink *out);

/* index */
bool mira_position_tables(struct reel_write *w, struct reel_error *err); /* sets run->index_at from the plan */
uint64_t mira_tail_parts(struct reel_write *w);
bool mira_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err);

#endif
