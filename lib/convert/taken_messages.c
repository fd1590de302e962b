/* See taken_messages.h. */
#include "convert/taken_messages.h"

#include "base/error.h"

enum { KEPT_MAX = 16 << 10 /* bytes of a payload: a larger one is better read and laid out where it is written */ };

bool taken_add(struct taken_messages *taken, struct reel_stream *stream, const struct reel_message *m,
               struct reel_error *err) {
    bool keeps = stream_lays_out(stream) && !m->owned && m->size <= KEPT_MAX;
    struct reel_bytes payload;
    if (!GROW_ARRAY(taken->items, taken->n, taken->room)) {
        return reel_fail_memory(err);
    }
    if (keeps && !reel_stream_payload(stream, m, &payload, err)) {
        return false;
    }
    taken->items[taken->n++] = (struct taken_message){.message = *m, .at = keeps ? taken->payloads.size : SIZE_MAX};
    if (keeps) {
        grow_put(&taken->payloads, payload.data, payload.size);
    }
    return !taken->payloads.failed || reel_fail_memory(err);
}

void taken_remove_last(struct taken_messages *taken) {
    const struct taken_message *last = &taken->items[--taken->n];
    taken->payloads.size = last->at < SIZE_MAX ? last->at : taken->payloads.size;
}

void taken_clear(struct taken_messages *taken) {
    taken->n = taken->payloads.size = 0;
}

void taken_done(struct taken_messages *taken) {
    free(taken->items);
    grow_done(&taken->payloads);
    *taken = (struct taken_messages){0};
}

/* ---- the stream */

struct taken_stream {
    struct reel_stream base;
    struct reel_stream *below;
    const struct taken_messages *taken;
    size_t next;
};

static enum reel_step taken_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct taken_stream *s = (struct taken_stream *)base;
    (void)err;
    if (s->next == s->taken->n) {
        return REEL_STEP_END;
    }
    *m = s->taken->items[s->next++].message;
    return REEL_STEP_MESSAGE;
}

static inline bool is_at(const struct reel_message *m, const struct reel_position *position) {
    return m->entry.offset == position->offset && m->entry.chunk == position->chunk && m->source == position->source &&
           m->initial == position->initial && m->again == position->again;
}

static bool taken_seek(struct reel_stream *base, const struct reel_position *position, struct reel_error *err) {
    struct taken_stream *s = (struct taken_stream *)base;
    for (s->next = 0; s->next < s->taken->n; s->next++) {
        if (is_at(&s->taken->items[s->next].message, position)) {
            return true;
        }
    }
    return reel_fail(err, REEL_CHANGED, "a message of the plan is not there");
}

/* The kept payload of the message that was given last; NULL: another message, or it is not kept. */
static const uint8_t *kept_payload(const struct taken_stream *s, const struct reel_message *m) {
    const struct taken_message *last = s->next > 0 ? &s->taken->items[s->next - 1] : NULL;
    struct reel_position position = reel_position_of(m);
    return last && last->at < SIZE_MAX && is_at(&last->message, &position) ? s->taken->payloads.data + last->at : NULL;
}

static bool taken_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                          struct reel_error *err) {
    const struct taken_stream *s = (const struct taken_stream *)base;
    const uint8_t *kept = kept_payload(s, m);
    *out = bytes_of(kept, m->size);
    return kept || reel_stream_payload(s->below, m, out, err);
}

static bool taken_put(struct reel_stream *base, const struct reel_message *m, uint8_t *to, struct reel_error *err) {
    const struct taken_stream *s = (const struct taken_stream *)base;
    const uint8_t *kept = kept_payload(s, m);
    if (!kept) {
        return reel_stream_copy(s->below, m, 0, to, m->size, err);
    }
    memcpy(to, kept, m->size);
    return true;
}

static void taken_free(struct reel_stream *base) {
    free(base);
}

struct reel_stream *taken_stream_new(struct reel_stream *below, struct reel_error *err) {
    static const struct reel_stream_ops ops = {
        .next = taken_next, .seek = taken_seek, .free = taken_free, .payload = taken_payload, .put = taken_put};
    static const struct taken_messages none;
    struct taken_stream *s = malloc(sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    *s = (struct taken_stream){.base = *below, .below = below, .taken = &none};
    s->base.ops = &ops;
    return &s->base;
}

void taken_stream_begin(struct reel_stream *stream, const struct taken_messages *taken) {
    struct taken_stream *s = (struct taken_stream *)stream;
    s->taken = taken;
    s->next = 0;
}
