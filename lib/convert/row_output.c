/* Rows (convert/writer.h): an output whose length is not known, written once from front to back. A group is emitted
 * into a window, and again for the next window while it is larger. The rows of a large conversion are rendered on its
 * threads, in sections of consecutive messages (pipeline.h); head and tail are the reader's. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pipeline.h"
#include "convert/conversion.h"
#include "convert/writer_run.h"
#include "stream/stream.h"

enum {
    WINDOW = 1 << 20,            /* bytes of a group that are emitted at a time … */
    WINDOW_MAX = 32 << 20,       /* … for a larger group up to so many, so that it is not emitted too often */
    DIRECT = 256 << 10,          /* a reader with so much room gets a group without a copy */
    SECTION_BYTES = 2 << 20,     /* payloads of a section … */
    SECTION_MESSAGES = 32768,    /* … of at most so many messages */
    SECTION_TEXT_MAX = 16 << 20, /* the rows of a section that has more are rendered by the reader, in windows */
};

struct reel_row_output {
    struct writer_run run;
    struct reel_conversion *conversion; /* NULL: the stream is the output's own, and there are no threads */
    struct reel_write_options options;
    struct arena arena; /* texts of the options */
    void *totals;       /* of the writer */
    enum { AT_START, AT_HEAD, AT_SECTION, AT_MESSAGES, AT_SECTIONS, AT_TAIL, AT_END, BROKEN } stage;
    uint64_t tail_part, tail_parts;
    uint64_t messages; /* before the current group */
    /* The group that is being returned: */
    uint64_t group_size, group_messages, returned;
    uint8_t *buffer; /* has the bytes [from, to) of it */
    size_t capacity;
    uint64_t from, to;
    uint64_t left;             /* messages of the section that no group has taken yet; UINT64_MAX: no section */
    bool has_head;             /* the writer has emitted the head */
    struct sections *sections; /* that are rendered on threads; NULL: none */
};

static void free_sections(struct sections *sections);

void reel_row_output_free(struct reel_row_output *o) {
    if (!o) {
        return;
    }
    free_sections(o->sections);
    writer_run_close(&o->run);
    conversion_return(o->conversion, o->run.w.stream);
    reel_conversion_free(o->conversion);
    arena_free(&o->arena);
    free(o->totals);
    free(o->buffer);
    free(o);
}

/* Takes the stream, also on failure; it belongs to `conversion`, unless that is NULL. */
static struct reel_row_output *open_output(const struct reel_writer *writer, const struct reel_write_options *options,
                                           struct reel_conversion *conversion, struct reel_stream *stream,
                                           struct reel_error *err) {
    AUTO(reel_row_output_free) struct reel_row_output *o = calloc(1, sizeof *o);
    if (!o) {
        conversion_return(conversion, stream);
        reel_fail_memory(err);
        return NULL;
    }
    o->conversion = conversion ? reel_conversion_ref(conversion) : NULL;
    o->run.w.stream = stream;
    o->left = UINT64_MAX;
    o->totals = calloc(1, writer->totals_size ? writer->totals_size : 1);
    if (!o->totals || !writer_run_copy_options(&o->options, options, stream->n_sources, &o->arena)) {
        reel_fail_memory(err);
        return NULL;
    }
    return writer_run_open(&o->run, writer, &o->options, stream, o->totals, false, err) ? TAKE(o) : NULL;
}

struct reel_row_output *reel_row_output_new(const struct reel_writer *writer, const struct reel_write_options *options,
                                            struct reel_stream *stream, struct reel_error *err) {
    return open_output(writer, options, NULL, stream, err);
}

struct reel_row_output *reel_conversion_rows(struct reel_conversion *c, struct reel_error *err) {
    struct reel_stream *stream = conversion_stream(c, NULL, err);
    return stream ? open_output(c->writer, &c->options, c, stream, err) : NULL;
}

/* ---- one group */

static bool row_output_reserve(struct reel_row_output *o, size_t size, struct reel_error *err) {
    if (size > o->capacity) {
        free(TAKE(o->buffer));
        o->capacity = 0;
        if (!(o->buffer = malloc(size))) {
            return reel_fail_memory(err);
        }
        o->capacity = size;
    }
    return true;
}

static bool emit_messages(struct reel_row_output *o, struct reel_sink *out, struct reel_error *err) {
    struct writer_run *run = &o->run;
    bool again = out->lo > 0;
    if (again && !stream_seek(run->w.stream, &run->first, err)) {
        return false;
    }
    run->has_pending = run->has_pending && !again;
    writer_run_begin_group(run, run->w.group, again ? o->group_messages : o->left);
    bool good = run->w.writer->messages(&run->w, out, err);
    o->group_messages = run->taken;
    return good;
}

/* Emits the current group. The first time this also determines its size. */
static bool emit(struct reel_row_output *o, struct reel_sink *out, struct reel_error *err) {
    struct writer_run *run = &o->run;
    const struct reel_writer *writer = run->w.writer;
    out->partial = true;
    run->w.before = o->messages;
    o->has_head = true;
    bool good = o->stage == AT_HEAD   ? writer->head(&run->w, out, err)
                : o->stage == AT_TAIL ? writer->tail(&run->w, o->tail_part, out, err)
                                      : emit_messages(o, out, err);
    o->group_size = out->pos;
    return good;
}

/* The same into the window that begins at `from`. */
static bool emit_window(struct reel_row_output *o, uint64_t from, struct reel_error *err) {
    size_t window = from < WINDOW ? WINDOW : from < WINDOW_MAX ? (size_t)from : WINDOW_MAX;
    if (!row_output_reserve(o, window, err)) {
        return false;
    }
    struct reel_sink out = {.lo = from, .hi = from + window, .buffer = o->buffer};
    bool good = emit(o, &out, err);
    o->from = from;
    o->to = out.pos < out.hi ? out.pos : out.hi;
    return good;
}

/* ---- sections */

struct row_piece {
    struct pipeline_piece base;
    struct reel_position first; /* message */
    uint64_t before, count;     /* messages before it, and in it */
    bool too_large;             /* SECTION_TEXT_MAX: the reader renders it */
};

struct sections {
    struct pipeline *pipeline;
    struct row_piece *piece; /* being read; NULL: none */
    size_t used;             /* bytes read of it */
    struct reel_conversion *conversion;
    struct reel_stream *index; /* finds where sections begin; its payloads are not read */
    struct reel_message first; /* of the next section */
    bool has_first;
    uint64_t messages; /* in the sections so far */
};

static void free_sections(struct sections *s) {
    if (s) {
        pipeline_free(s->pipeline);
        conversion_return(s->conversion, s->index);
        free(s);
    }
}

/* Goes through the index to the end of the next section. */
static bool next_section(void *context, struct pipeline_piece *base, struct reel_error *err) {
    struct sections *s = context;
    struct row_piece *piece = (struct row_piece *)base;
    struct reel_message m = s->first;
    enum reel_step step = s->has_first ? REEL_STEP_MESSAGE : stream_next(s->index, &m, err);
    s->has_first = false;
    piece->first = reel_position_of(&m);
    piece->before = s->messages;
    piece->count = 0;
    piece->too_large = false;
    for (uint64_t bytes = 0; step == REEL_STEP_MESSAGE; step = stream_next(s->index, &m, err)) {
        if (piece->count > 0 && (bytes + m.size > SECTION_BYTES || piece->count == SECTION_MESSAGES)) {
            s->first = m;
            s->has_first = true;
            break;
        }
        bytes += m.size;
        piece->count++;
    }
    s->messages += piece->count;
    return step != REEL_STEP_ERROR && piece->count > 0;
}

/* From now on the output gives the rows of this section and then ends, or goes on with the sections after it. */
static bool begin_section(struct reel_row_output *o, const struct row_piece *piece, struct reel_error *err) {
    struct writer_run *run = &o->run;
    bool follows = o->stage == AT_END && o->messages == piece->before; /* the stream is there */
    if (!follows && !stream_seek(run->w.stream, &piece->first, err)) {
        return false;
    }
    if (!o->has_head && !run->w.writer->head(&run->w, &(struct reel_sink){.pos = 0}, err)) {
        return false;
    }
    o->has_head = true;
    run->has_pending = false;
    o->stage = AT_SECTION;
    o->returned = o->group_size = o->to = 0;
    o->messages = piece->before;
    o->left = piece->count;
    return true;
}

static bool render_section(void *context, void *worker, struct pipeline_piece *base, struct reel_error *err) {
    enum { ROOM = 1 << 20 };
    struct row_piece *piece = (struct row_piece *)base;
    (void)context;
    if (!begin_section(worker, piece, err)) {
        return false;
    }
    for (size_t got = 1; got > 0; base->size += got) {
        if (base->size == SECTION_TEXT_MAX) {
            return piece->too_large = true;
        }
        if (base->size == base->capacity && !pipeline_grow(base, base->capacity > 0 ? 2 * base->capacity : ROOM, err)) {
            return false;
        }
        if (!reel_row_output_next(worker, base->data + base->size, base->capacity - base->size, &got, err)) {
            return false;
        }
    }
    return true;
}

static void *open_worker(void *context, struct reel_error *err) {
    return reel_conversion_rows(((struct sections *)context)->conversion, err);
}
static void close_worker(void *worker) {
    reel_row_output_free(worker);
}

/* A selection that payloads decide would be read twice, and a view may depend on what it has given before. */
static bool uses_threads(const struct reel_row_output *o) {
    struct reel_conversion *c = o->conversion;
    return c && !c->options.prompt && c->options.limit == 0 && stream_is_plain(o->run.w.stream) &&
           reel_conversion_threads(c) > 0;
}

/* Begins to render sections, where that pays. */
static bool open_sections(struct reel_row_output *o, struct reel_error *err) {
    static const struct pipeline_ops ops = {.piece_size = sizeof(struct row_piece),
                                            .next = next_section,
                                            .render = render_section,
                                            .open_worker = open_worker,
                                            .close_worker = close_worker};
    struct reel_conversion *c = o->conversion;
    if (!uses_threads(o)) {
        return true;
    }
    struct sections *s = o->sections = calloc(1, sizeof *s);
    if (!s) {
        return reel_fail_memory(err);
    }
    s->conversion = c;
    return (s->index = conversion_stream(c, NULL, err)) &&
           (s->pipeline = pipeline_new(conversion_client(c), conversion_threads(c), &ops, s, err));
}

static void drop_piece(struct sections *s) {
    s->piece = NULL;
    pipeline_return(s->pipeline);
}

/* The next rows, at most `size` bytes. *got 0: there are no more, or the stage is AT_SECTION: the reader itself renders
 * the next section, because its piece failed or is too large. */
static bool read_sections(struct reel_row_output *o, uint8_t *to, size_t size, size_t *got, struct reel_error *err) {
    struct sections *s = o->sections;
    struct reel_error failed = {0};
    *got = 0;
    while (*got == 0) {
        if (!s->piece) {
            s->piece = (struct row_piece *)pipeline_take(s->pipeline, &failed);
            s->used = 0;
        }
        struct row_piece *piece = s->piece;
        if (!piece) {
            return failed.code == REEL_OK || reel_error_pass(err, &failed);
        }
        if (!piece->base.good || piece->too_large) {
            bool good = begin_section(o, piece, err);
            drop_piece(s);
            return good;
        }
        size_t left = piece->base.size - s->used;
        *got = left < size ? left : size;
        memcpy(to, piece->base.data + s->used, *got);
        s->used += *got;
        if (s->used == piece->base.size) {
            o->messages += piece->count;
            drop_piece(s);
        }
    }
    return true;
}

/* ---- from group to group */

static bool begin_tail(struct reel_row_output *o, struct reel_error *err) {
    const struct reel_writer *writer = o->run.w.writer;
    o->tail_parts = !writer->tail ? 0 : writer->tail_parts ? writer->tail_parts(&o->run.w) : 1;
    o->stage = o->tail_parts > 0 ? AT_TAIL : AT_END;
    return writer_run_return_pending(&o->run, err);
}

static void end_group(struct reel_row_output *o) {
    o->messages += o->group_messages;
    o->left -= o->left < UINT64_MAX ? o->group_messages : 0;
    o->run.w.group++;
}

/* Goes to the next group of messages, to the sections after this one, or to the tail. */
static bool next_group(struct reel_row_output *o, struct reel_error *err) {
    bool more = false;
    if (o->left == 0) {
        o->stage = o->sections ? AT_SECTIONS : AT_END;
        o->left = UINT64_MAX;
        return true;
    }
    bool enough = o->stage == AT_MESSAGES && o->group_messages == 0; /* an empty group: the writer takes no more */
    if (!enough && !writer_run_has_more(&o->run, &more, err)) {
        return false;
    }
    if (!more && o->left < UINT64_MAX) {
        return reel_fail(err, REEL_CHANGED, "the recording has fewer messages than its index");
    }
    o->stage = more ? AT_MESSAGES : o->stage;
    return more || begin_tail(o, err);
}

static bool next_stage(struct reel_row_output *o, struct reel_error *err) {
    switch (o->stage) {
    case AT_START:
        o->stage = AT_HEAD;
        return true;
    case AT_HEAD:
        if (!open_sections(o, err)) {
            return false;
        }
        o->stage = o->sections ? AT_SECTIONS : AT_HEAD;
        return o->sections || next_group(o, err);
    case AT_MESSAGES:
        end_group(o);
        return next_group(o, err);
    case AT_SECTION:
        return next_group(o, err);
    case AT_SECTIONS:
        return begin_tail(o, err);
    default:
        o->stage = ++o->tail_part < o->tail_parts ? AT_TAIL : AT_END;
        return true;
    }
}

/* Goes on after a group that has been returned whole. */
static bool row_output_advance(struct reel_row_output *o, uint8_t *to, size_t size, size_t *got,
                               struct reel_error *err) {
    o->returned = o->group_size = o->to = 0;
    if (!next_stage(o, err)) {
        return false;
    }
    if (o->stage == AT_END || o->stage == AT_SECTIONS || size < DIRECT) {
        return o->stage == AT_END || o->stage == AT_SECTIONS || emit_window(o, 0, err);
    }
    struct reel_sink out = {.hi = size, .buffer = to};
    bool good = emit(o, &out, err);
    *got = out.pos < size ? (size_t)out.pos : size;
    o->returned = *got;
    return good;
}

/* Some of the next bytes; *got 0: there are more, or the output has ended. */
static bool row_output_read_some(struct reel_row_output *o, uint8_t *to, size_t size, size_t *got,
                                 struct reel_error *err) {
    *got = 0;
    if (o->stage == AT_SECTIONS) {
        return read_sections(o, to, size, got, err) && (*got > 0 || row_output_advance(o, to, size, got, err));
    }
    if (o->returned == o->group_size) {
        return row_output_advance(o, to, size, got, err);
    }
    if (o->returned >= o->to && !emit_window(o, o->returned, err)) {
        return false;
    }
    *got = o->to - o->returned < size ? (size_t)(o->to - o->returned) : size;
    memcpy(to, o->buffer + (o->returned - o->from), *got);
    o->returned += *got;
    return true;
}

static bool row_output_read_rows(struct reel_row_output *o, uint8_t *to, size_t size, size_t *got,
                                 struct reel_error *err) {
    bool prompt = o->options.prompt;
    for (size_t n; *got < size && o->stage != AT_END; *got += n) {
        bool ends = o->stage != AT_SECTIONS && o->returned == o->group_size;
        if (prompt && ends && *got > 0) {
            return true;
        }
        if (!row_output_read_some(o, to + *got, size - *got, &n, err)) {
            return false;
        }
    }
    return true;
}

bool reel_row_output_next(struct reel_row_output *o, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    *got = 0;
    if (o->stage == BROKEN) {
        return reel_fail(err, REEL_CANCELLED, "the output has broken off before");
    }
    if (!row_output_read_rows(o, buffer, size, got, err)) {
        o->stage = BROKEN;
        return false;
    }
    return true;
}

void reel_row_output_rest(struct reel_row_output *o) {
    if (o->returned < o->group_size || o->sections) {
        return;
    }
    free(TAKE(o->buffer));
    o->capacity = 0;
    for (uint32_t i = 0; i < o->run.w.stream->n_sources; i++) {
        reader_rest(o->run.w.stream->readers[i]);
    }
}
