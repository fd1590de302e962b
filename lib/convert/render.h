/* The state of a render, for the files of which it is made: render.c (planned outputs), render_rows.c (rows),
 * render_ahead.c (both, ahead of the reader). */
#ifndef REEL_CONVERT_RENDER_H
#define REEL_CONVERT_RENDER_H

#include "convert/conversion.h"
#include "convert/writer_run.h"

struct reel_render {
    struct run run;
    struct reel_stream *stream;
    struct reel_plan *plan;
    struct reel_conversion *conversion; /* NULL: nothing is rendered ahead */
    struct render_ahead *ahead;         /* NULL: not now */
    struct kept *kept;                  /* the plan's, in use; NULL: none */
    struct reel_write_options options;  /* of a streamed run */
    struct arena arena;                 /* their texts */
    void *totals;                       /* of a streamed run */
    uint8_t *buffer;
    size_t capacity;
    uint64_t until;          /* planned: what is before it is read in order (reel_render_expect()); 0: not known */
    uint64_t held, held_end; /* output bytes in the buffer (planned), or bytes of the group (streamed) */
    uint64_t messages;
    /* streamed: */
    enum { AT_START, AT_HEAD, AT_SECTION, AT_MESSAGES, AT_AHEAD, AT_TAIL, AT_END, BROKEN } stage;
    uint64_t tail_part, tail_parts;
    uint64_t group_size, returned; /* of the section being returned */
    uint64_t group_count;
    uint64_t left; /* messages of the section that are still to be taken; UINT64_MAX: all */
    bool begun;    /* of a render of sections: its writer has seen the head */
};

bool render_reserve(struct reel_render *r, size_t size, struct reel_error *err); /* r->buffer */

/* The end of a piece that begins at `offset`: that of a group, where possible, about `size` bytes further, at most
 * `end`. */
uint64_t render_piece_end(const struct reel_plan *plan, uint64_t offset, uint64_t end, size_t size);

/* Sections of rows: reel_render_next() gives the rows of `count` messages from `first` on, before which there are
 * `before`. */
bool render_section(struct reel_render *r, const struct reel_position *first, uint64_t before, uint64_t count,
                    struct reel_error *err);

/* ---- render_ahead.c */

struct render_ahead;
void render_ahead_free(struct render_ahead *ahead); /* NULL is fine */
/* Whether these are the next bytes that it has. */
bool render_ahead_has(const struct render_ahead *ahead, uint64_t offset, size_t size);
/* How many it has given. Fewer than `size`: a piece could not be rendered. */
size_t render_ahead_read(struct render_ahead *ahead, uint8_t *buffer, size_t size);
/* Rows: begins when that pays; *begun false: it does not. */
bool render_ahead_rows(struct reel_render *r, bool *begun, struct reel_error *err);
/* The next rows, at most `size` bytes. *got 0: there are no more, or r->stage is AT_SECTION: r itself renders the next
 * ones, because they could not be rendered ahead. */
bool render_ahead_next(struct reel_render *r, uint8_t *to, size_t size, size_t *got, struct reel_error *err);

#endif
