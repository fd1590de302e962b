/* Rendering rows: a streamed output from front to back, or a section of its messages. */
#include <string.h>

#include "convert/render.h"

enum {
    STREAM_WINDOW = 1 << 20, /* bytes rendered at a time */
    STREAM_WINDOW_MAX =
        32 << 20, /* for a larger group the window doubles, so that the group is not emitted too often */
};

/* Emits the current section into the window that begins at `from`; the first pass also determines its size. */
static bool emit_streamed(struct reel_render *r, uint64_t from, struct reel_error *err) {
    struct run *run = &r->run;
    const struct reel_writer *writer = run->w.writer;
    size_t window = from < STREAM_WINDOW ? STREAM_WINDOW : from < STREAM_WINDOW_MAX ? (size_t)from : STREAM_WINDOW_MAX;
    if (!render_reserve(r, window, err)) {
        return false;
    }
    struct reel_sink out = {.lo = from, .hi = from + window, .buffer = r->buffer, .partial = true};
    bool good;
    run->w.before = r->messages;
    if (r->stage == AT_HEAD) {
        r->begun = true;
        good = writer->head(&run->w, &out, err);
    } else if (r->stage == AT_TAIL) {
        good = writer->tail(&run->w, r->tail_part, &out, err);
    } else {
        if (from > 0 && !stream_seek(r->stream, &run->first, err)) {
            return false;
        }
        run->has_pending = run->has_pending && from == 0;
        run_begin_group(run, run->w.group, from > 0 ? r->group_count : r->left);
        good = writer->messages(&run->w, &out, err);
        r->group_count = run->taken;
    }
    r->group_size = out.pos;
    r->held = from;
    r->held_end = out.pos < out.hi ? out.pos : out.hi;
    return good;
}

static bool begin_tail(struct reel_render *r, struct reel_error *err) {
    const struct reel_writer *writer = r->run.w.writer;
    r->tail_parts = !writer->tail ? 0 : writer->tail_parts ? writer->tail_parts(&r->run.w) : 1;
    r->stage = r->tail_parts > 0 ? AT_TAIL : AT_END;
    return run_return_pending(&r->run, err);
}

/* The group has been given. */
static void end_group(struct reel_render *r) {
    r->messages += r->group_count;
    r->left -= r->left < UINT64_MAX ? r->group_count : 0;
    r->run.w.group++;
}

/* After the head, at the start of a section, or after a group of messages. */
static bool go_on(struct reel_render *r, struct reel_error *err) {
    bool more = false, ahead = false;
    if (r->stage == AT_HEAD && r->conversion && !render_ahead_rows(r, &ahead, err)) {
        return false;
    }
    if (ahead || r->left == 0) {
        r->stage = r->ahead ? AT_AHEAD : AT_END;
        r->left = UINT64_MAX;
        return true;
    }
    /* an empty group: the writer needs no more messages */
    if ((r->stage != AT_MESSAGES || r->group_count > 0) && !run_has_more(&r->run, &more, err)) {
        return false;
    }
    if (!more && r->left < UINT64_MAX) {
        return reel_fail(err, REEL_CHANGED, "the recording has fewer messages than its index");
    }
    r->stage = more ? AT_MESSAGES : r->stage;
    return more || begin_tail(r, err);
}

/* Advances to the next section. */
static bool next_stage(struct reel_render *r, struct reel_error *err) {
    switch (r->stage) {
    case AT_START:
        r->stage = AT_HEAD;
        return true;
    case AT_MESSAGES:
        end_group(r);
        return go_on(r, err);
    case AT_HEAD:
    case AT_SECTION:
        return go_on(r, err);
    case AT_AHEAD:
        return begin_tail(r, err);
    default:
        r->stage = ++r->tail_part < r->tail_parts ? AT_TAIL : AT_END;
        return true;
    }
}

static bool advance(struct reel_render *r, struct reel_error *err) {
    r->returned = r->group_size = r->held_end = 0;
    return next_stage(r, err) && (r->stage == AT_END || r->stage == AT_AHEAD || emit_streamed(r, 0, err));
}

static bool read_streamed(struct reel_render *r, uint8_t *to, size_t size, size_t *got, struct reel_error *err) {
    while (*got < size && r->stage != AT_END) {
        size_t n = 0;
        if (r->stage == AT_AHEAD) {
            if (!render_ahead_next(r, to + *got, size - *got, &n, err) || (n == 0 && !advance(r, err))) {
                return false;
            }
            *got += n;
            continue;
        }
        if (r->returned == r->group_size) {
            if (*got > 0 && r->run.w.options->prompt) {
                return true;
            }
            if (!advance(r, err)) {
                return false;
            }
            continue;
        }
        if (r->returned >= r->held_end && !emit_streamed(r, r->returned, err)) {
            return false;
        }
        n = r->held_end - r->returned < size - *got ? (size_t)(r->held_end - r->returned) : size - *got;
        memcpy(to + *got, r->buffer + (r->returned - r->held), n);
        *got += n;
        r->returned += n;
    }
    return true;
}

bool reel_render_next(struct reel_render *r, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    *got = 0;
    if (r->stage == BROKEN) {
        return reel_fail(err, REEL_CANCELLED, "the output has broken off before");
    }
    if (!read_streamed(r, buffer, size, got, err)) {
        r->stage = BROKEN;
        return false;
    }
    return true;
}

bool render_section(struct reel_render *r, const struct reel_position *first, uint64_t before, uint64_t count,
                    struct reel_error *err) {
    struct run *run = &r->run;
    bool follows = r->stage == AT_END && r->messages == before;
    if (!follows && !stream_seek(r->stream, first, err)) {
        return false;
    }
    if (!r->begun && !run->w.writer->head(&run->w, &(struct reel_sink){.pos = 0}, err)) {
        return false;
    }
    r->begun = true;
    run->has_pending = false;
    r->stage = AT_SECTION;
    r->returned = r->group_size = r->held_end = 0;
    r->messages = before;
    r->left = count;
    return true;
}
