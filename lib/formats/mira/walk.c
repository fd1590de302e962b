/* Walks a tape from field to field; payloads are skipped unless they are compressed. Only the lengths inside a field
 * determine where the next one begins, not the positions, counts or sizes stated elsewhere. */
#include "formats/mira/container.h"

#include <stdio.h>

enum { PROGRESS_STEP = 4 << 20 };

bool mira_progress(struct mira *t, uint64_t at, struct reel_error *err) {
    if (at < t->report_at) {
        return true;
    }
    t->report_at = at + PROGRESS_STEP;
    return reel_scan_progress(t->scan, at, t->source->size, err);
}

/* ---- blocks ---- */

static void mira_close_block(struct mira *t) {
    struct mira_open_block *b = &t->block;
    if (!b->open) {
        return;
    }
    b->open = false;
    uint64_t bytes = b->end - b->at - MIRA_FIELD_HEAD - MIRA_BLOCK_HEAD;
    bool times = b->seen == 0 || (b->first == b->seen_first && b->last == b->seen_last);
    if (b->messages == 0 && b->bytes == 0 && bytes > 0) {
        mira_count(&t->empty_blocks, b->at);
    } else if (b->messages != b->seen || b->bytes != bytes || !times) {
        mira_count(&t->wrong_blocks, b->at);
    }
}

static void open_block(struct mira *t, const struct mira_field *f) {
    mira_close_block(t);
    t->blocks++;
    t->block = (struct mira_open_block){.at = f->at,
                                        .end = f->end,
                                        .messages = f->block.messages,
                                        .bytes = f->block.bytes,
                                        .first = f->block.first,
                                        .last = f->block.last,
                                        .open = true};
}

/* ---- messages ---- */

/* Chunks are in file order, so that messages with equal times stay in file order. */
static bool plain_chunk(struct mira *t, const struct mira_field *f, struct reel_error *err) {
    if (!t->plain_old) {
        return true;
    }
    uint64_t size = t->source->size - f->at;
    t->plain_old = false;
    t->plain_at = f->at;
    return reel_scan_chunk(t->scan, &(struct reel_chunk){.offset = f->at, .stored = size, .raw = size}, &t->plain_chunk,
                           err);
}

static bool add_compressed(struct mira *t, struct mira_channel *c, const struct mira_field *f, struct reel_entry *e,
                           bool *done, struct reel_error *err) {
    struct reel_chunk chunk = {.offset = f->message.data_at, .stored = f->message.stored};
    if (!mira_choose_codec(t, c, f, &chunk.codec, &chunk.raw, err)) {
        return false;
    }
    *done = chunk.codec != REEL_CODEC_NONE;
    if (!*done) {
        return true;
    }
    e->extra[1] |= (uint64_t)chunk.codec << MIRA_CODEC_SHIFT;
    e->size = (uint32_t)chunk.raw; /* the stated size, or the limit passed to codec_measure(): both fit */
    t->plain_old = true;
    return reel_scan_chunk(t->scan, &chunk, &e->chunk, err);
}

int64_t mira_absolute(struct mira *t, int64_t time, uint64_t at) {
    int64_t absolute;
    if (__builtin_add_overflow((int64_t)t->header.start_ns, time, &absolute)) {
        mira_count(&t->clamped, at);
        return INT64_MAX;
    }
    return absolute;
}

static void mira_walk_count_message(struct mira *t, struct mira_channel *c, const struct mira_field *f) {
    int64_t time = f->message.time;
    struct mira_open_block *b = &t->block;
    c->first = c->messages == 0 || time < c->first ? time : c->first;
    c->last = c->messages == 0 || time > c->last ? time : c->last;
    c->messages++;
    c->stored_bytes += f->message.stored;
    c->sum += mira_position_hash(b->open ? b->at : 0, f->at, time);
    t->messages++;
    if (!b->open) {
        mira_count(&t->no_block, f->at);
        return;
    }
    b->seen_first = b->seen == 0 || time < b->seen_first ? time : b->seen_first;
    b->seen_last = b->seen == 0 || time > b->seen_last ? time : b->seen_last;
    b->seen++;
    b->end = f->end;
}

static bool mira_take_message(struct mira *t, const struct mira_field *f, struct reel_error *err) {
    struct mira_channel *c = mira_channel_of(t, f->message.channel, err);
    uint32_t frame;
    bool placed = false;
    if (!c || !mira_frame_number(t, c, f->message.frame, f->at, &frame, err)) {
        return false;
    }
    if (t->last) {
        t->last->guess = c;
    }
    t->last = c;
    struct reel_entry e = {.time_ns = mira_absolute(t, f->message.time, f->at),
                           .channel = c->id,
                           .size = f->message.stored,
                           .extra = {f->message.sequence, frame}};
    if (f->message.compressed && !add_compressed(t, c, f, &e, &placed, err)) {
        return false;
    }
    if (!placed) {
        if (!plain_chunk(t, f, err)) {
            return false;
        }
        e.chunk = t->plain_chunk;
        e.offset = f->message.data_at - t->plain_at;
    }
    if (f->message.compressed && !placed) {
        e.extra[0] |= (uint64_t)f->message.raw << 32;
        e.extra[1] |= MIRA_STORED_FLAG;
    }
    mira_walk_count_message(t, c, f);
    return reel_scan_entry(t->scan, &e, err);
}

/* ---- fields ---- */

static bool take_field(struct mira *t, const struct mira_field *f, struct reel_error *err) {
    switch (f->type) {
    case MIRA_BLOCK:
        open_block(t, f);
        return true;
    case MIRA_INFO:
        if (t->block.open) {
            t->block.end = f->end;
        }
        return mira_read_info(t, f, err);
    case MIRA_MESSAGE:
        return mira_take_message(t, f, err);
    default:
        mira_close_block(t);
        return mira_read_index(t, f, err);
    }
}

/* For a field whose stated size differs from that of its content: the one that a field follows is right. *whole: the
 * field can be kept. */
static bool resolve_size(struct mira *t, struct mira_field *f, bool *whole, struct reel_error *err) {
    *whole = true;
    bool natural = false, stated = false;
    uint64_t end = f->at + MIRA_FIELD_HEAD + f->size;
    if (!mira_is_field(t, f->end, &natural, err) || (!natural && !mira_is_field(t, end, &stated, err))) {
        return false;
    }
    if (natural || (stated && f->end <= end)) {
        mira_count(&t->wrong_sizes, f->at);
        f->end = natural ? f->end : end;
    } else {
        *whole = false;
    }
    return true;
}

static bool mira_walk_one(struct mira *t, struct reel_error *err) {
    struct mira_field f = {.at = 0};
    struct reel_error why = {0};
    bool whole = true;
    if (!mira_field_read(t, &t->window, t->at, &f, &why)) {
        if (f.cut && f.type == MIRA_INDEX && mira_size_agrees(&f)) {
            reel_scan_finding(t->scan, REEL_WARNING, 0, t->at, t->source->size - t->at,
                              "the tape is truncated in the index at %llu, after the last message",
                              (unsigned long long)t->at);
            t->at = t->source->size;
            return true;
        }
        return why.code == REEL_DAMAGED ? mira_resume(t, why.text, err) : reel_error_pass(err, &why);
    }
    if (!mira_size_agrees(&f) && !resolve_size(t, &f, &whole, err)) {
        return false;
    }
    if (!whole) {
        char text[160];
        snprintf(text, sizeof text,
                 "field of type %02x at %llu: no field follows, neither by its size of %u nor by its content", f.type,
                 (unsigned long long)f.at, f.size);
        return mira_resume(t, text, err);
    }
    t->at = f.end;
    return take_field(t, &f, err);
}

bool mira_walk(struct mira *t, struct reel_error *err) {
    while (t->at < t->source->size) {
        if (!mira_progress(t, t->at, err) || !mira_walk_one(t, err)) {
            return false;
        }
    }
    mira_close_block(t);
    return true;
}
