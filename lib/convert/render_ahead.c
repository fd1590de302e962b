/* Renders ahead of the reader of an output (convert/pipeline.h): pieces of a planned one, sections of rows. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "convert/conversion.h"
#include "convert/pipeline.h"
#include "convert/render.h"
#include "stream/stream.h"

struct render_ahead {
    struct ahead *pieces;
    struct ahead_piece *piece; /* being read; NULL: none */
    size_t used;               /* bytes read of it */
    struct reel_plan *plan;
    uint64_t next, end;        /* planned: where the next piece begins, and the last one ends */
    uint64_t at;               /* the next byte to be read */
    struct reel_stream *index; /* rows: finds where sections begin; its payloads are not read */
    struct reel_message first; /* of the next section */
    bool has_first;
    uint64_t messages; /* in sections so far */
};

void render_ahead_free(struct render_ahead *a) {
    if (a) {
        ahead_free(a->pieces);
        reel_stream_free(a->index);
        free(a);
    }
}
REEL_DEFINE_AUTO(struct render_ahead, render_ahead_free);

/* The piece that is being read, the next one if it was read to its end. NULL: the end, or err is set. */
static struct ahead_piece *current(struct render_ahead *a, struct reel_error *err) {
    if (!a->piece) {
        a->piece = ahead_take(a->pieces, err);
        a->used = 0;
    }
    return a->piece;
}

static void drop_piece(struct render_ahead *a) {
    a->piece = NULL;
    ahead_return(a->pieces);
}

static size_t copy_bytes(struct render_ahead *a, uint8_t *to, size_t size) {
    size_t left = a->piece->size - a->used;
    size = size < left ? size : left;
    memcpy(to, a->piece->data + a->used, size);
    a->used += size;
    return size;
}

struct reel_render *reel_conversion_render(struct reel_conversion *c, struct reel_plan *plan, struct reel_error *err) {
    struct reel_stream *stream = conversion_stream(c, plan ? plan->initial : NULL, err);
    struct reel_render *render = stream ? reel_render_new(plan, c->writer, &c->options, stream, err) : NULL;
    if (render) {
        render->conversion = reel_conversion_ref(c);
    }
    return render;
}

/* ---- planned outputs */

static bool next_planned(void *context, struct ahead_piece *piece, struct reel_error *err) {
    struct render_ahead *a = context;
    (void)err;
    if (a->next == a->end) {
        return false;
    }
    piece->offset = a->next;
    a->next = render_piece_end(a->plan, a->next, a->end, ahead_bytes(a->pieces));
    piece->size = (size_t)(a->next - piece->offset);
    return true;
}

static bool render_planned(void *context, struct reel_render *render, struct ahead_piece *piece,
                           struct reel_error *err) {
    (void)context;
    return ahead_room(piece, piece->size, err) &&
           reel_render_read(render, piece->offset, piece->data, piece->size, err);
}

/* Whether the bytes need no rendering. */
static bool all_kept(const struct reel_render *r) {
    return r->kept && r->plan->n_groups > 0 && r->plan->groups[r->plan->n_groups - 1].kept;
}

bool reel_render_ahead(struct reel_render *r, uint64_t offset, uint64_t end) {
    static const struct ahead_ops ops = {.next = next_planned, .work = render_planned};
    render_ahead_free(TAKE(r->ahead));
    if (!r->conversion || !r->plan || end > r->plan->length || offset > end || all_kept(r) ||
        !conversion_shares(r->conversion, end - offset)) {
        return false;
    }
    AUTO(render_ahead_free) struct render_ahead *a = calloc(1, sizeof *a);
    if (a) {
        *a = (struct render_ahead){.plan = r->plan, .at = offset, .next = offset, .end = end};
        a->pieces = ahead_new(r->conversion, r->plan, r->plan->initial, true, &ops, a, NULL);
        r->ahead = a->pieces ? TAKE(a) : NULL;
    }
    return r->ahead;
}

bool render_ahead_has(const struct render_ahead *a, uint64_t offset, size_t size) {
    return offset == a->at && size <= a->end - offset;
}

size_t render_ahead_read(struct render_ahead *a, uint8_t *buffer, size_t size) {
    size_t done = 0;
    while (done < size) {
        const struct ahead_piece *piece = current(a, NULL);
        if (!piece || !piece->good) {
            break;
        }
        done += copy_bytes(a, buffer + done, size - done);
        if (a->used == piece->size) {
            drop_piece(a);
        }
    }
    a->at += done;
    return done;
}

/* ---- rows */

/* Goes through the index to the end of a section. */
static bool next_section(void *context, struct ahead_piece *piece, struct reel_error *err) {
    struct render_ahead *a = context;
    struct reel_message m = a->first;
    enum reel_step step = a->has_first ? REEL_STEP_MESSAGE : stream_next(a->index, &m, err);
    a->has_first = false;
    piece->first = reel_position_of(&m);
    piece->before = a->messages;
    piece->count = 0;
    for (uint64_t bytes = 0; step == REEL_STEP_MESSAGE; step = stream_next(a->index, &m, err)) {
        if (piece->count > 0 && (bytes + m.size > AHEAD_ROWS || piece->count == AHEAD_ROWS_MAX)) {
            a->first = m;
            a->has_first = true;
            break;
        }
        bytes += m.size;
        piece->count++;
    }
    a->messages += piece->count;
    return step != REEL_STEP_ERROR && piece->count > 0;
}

static bool render_rows(void *context, struct reel_render *render, struct ahead_piece *piece, struct reel_error *err) {
    enum { ROOM = 1 << 20 };
    (void)context;
    if (!render_section(render, &piece->first, piece->before, piece->count, err)) {
        return false;
    }
    for (size_t got = 1; got > 0; piece->size += got) {
        if (piece->size == AHEAD_TEXT_MAX) {
            return piece->too_large = true;
        }
        if (piece->size == piece->capacity &&
            !ahead_grow(piece, piece->capacity > 0 ? 2 * piece->capacity : ROOM, err)) {
            return false;
        }
        if (!reel_render_next(render, piece->data + piece->size, piece->capacity - piece->size, &got, err)) {
            return false;
        }
    }
    return true;
}

/* A selection that is decided by payloads would be read twice, and a view may depend on what it has given before. */
static bool has_sections(const struct reel_render *r) {
    const struct reel_conversion *c = r->conversion;
    return !c->options.prompt && c->options.limit == 0 && stream_is_plain(r->stream) && reel_conversion_threads(c) > 0;
}

bool render_ahead_rows(struct reel_render *r, bool *begun, struct reel_error *err) {
    static const struct ahead_ops ops = {.next = next_section, .work = render_rows};
    *begun = false;
    if (!has_sections(r)) {
        return true;
    }
    AUTO(render_ahead_free) struct render_ahead *a = calloc(1, sizeof *a);
    if (!a) {
        return reel_fail_memory(err);
    }
    if (!(a->index = conversion_stream(r->conversion, r->stream->initial, err)) ||
        !(a->pieces = ahead_new(r->conversion, NULL, r->stream->initial, true, &ops, a, err))) {
        return false;
    }
    r->ahead = TAKE(a);
    *begun = true;
    return true;
}

bool render_ahead_next(struct reel_render *r, uint8_t *to, size_t size, size_t *got, struct reel_error *err) {
    struct render_ahead *a = r->ahead;
    struct reel_error failed = {0};
    *got = 0;
    while (*got == 0) {
        struct ahead_piece *piece = current(a, &failed);
        if (!piece) {
            return failed.code == REEL_OK || reel_error_pass(err, &failed);
        }
        if (!piece->good || piece->too_large) {
            bool good = render_section(r, &piece->first, piece->before, piece->count, err);
            drop_piece(a);
            return good;
        }
        *got = copy_bytes(a, to, size);
        if (a->used == piece->size) {
            r->messages += piece->count;
            drop_piece(a);
        }
    }
    return true;
}
