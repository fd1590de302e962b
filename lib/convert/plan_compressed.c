/* See packing.h. The reader's thread decides which messages each group has; the groups are packed ahead
 * (convert/pipeline.h), and get their places in order. */
#include "convert/plan_compressed.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/conversion.h"
#include "convert/group_store.h"
#include "convert/pipeline.h"
#include "convert/render.h"

enum { OUTPUT_PIECE = 4 << 20 };

struct packing {
    struct reel_conversion *conversion;
    struct reel_plan *plan;
    struct run run;        /* decides the groups */
    struct reel_sink laid; /* where they would be, were they as large as they can be */
    uint64_t groups;       /* decided so far */
    const struct reel_output *output;
    struct reel_render *render; /* of what is not packed, for the output */
    uint8_t *buffer;            /* OUTPUT_PIECE bytes, for it */
    bool keeps;
};

static void packing_done(struct packing *p) {
    reel_render_free(p->render);
    run_close(&p->run);
    free(p->buffer);
}

/* ---- groups */

static bool add_note(struct ahead_piece *piece, uint32_t group, const struct run *run, struct reel_error *err) {
    piece->note[group].at = piece->notes.size;
    piece->note[group].size = run->note.size;
    grow_put(&piece->notes, run->note.data, run->note.size);
    return !piece->notes.failed || reel_fail_memory(err);
}

/* Decides the next groups, as many as make a piece. One whose size is known ends it. */
static bool next_groups(void *context, struct ahead_piece *piece, struct reel_error *err) {
    struct packing *p = context;
    uint64_t from = p->laid.pos;
    piece->group = p->groups;
    for (bool packs = true;
         packs && piece->n_groups < AHEAD_GROUPS && p->laid.pos - from < ahead_bytes(piece->ahead);) {
        bool more;
        if (!run_has_more(&p->run, &more, err)) {
            return false;
        }
        if (!more) {
            break;
        }
        struct planned *g = &piece->groups[piece->n_groups];
        if (!plan_lay(&p->run, p->groups, &p->laid, g, err)) {
            return false;
        }
        packs = g->packs;
        if (!packs && !add_note(piece, piece->n_groups, &p->run, err)) {
            return false;
        }
        piece->n_groups++;
        p->groups++;
    }
    piece->ready = piece->n_groups == 1 && !piece->groups[0].packs;
    return piece->n_groups > 0;
}

/* Packs a group into the piece; `room`: bytes that the groups after it may need. */
static bool pack_group(struct reel_render *render, struct ahead_piece *piece, uint32_t i, uint64_t room,
                       struct reel_error *err) {
    struct planned *g = &piece->groups[i];
    struct reel_sink out = {.hi = piece->capacity - piece->size, .buffer = piece->data + piece->size};
    if (!run_pack(&render->run, piece->group + i, &g->first, g->count, &out, err)) {
        return false;
    }
    if (out.pos > out.hi) { /* once more, with enough room */
        g->size = out.pos;
        render->run.stream_group = UINT64_MAX;
        return ahead_grow(piece, piece->size + g->size + room, err) && pack_group(render, piece, i, room, err);
    }
    g->size = out.pos;
    piece->size += (size_t)out.pos;
    return add_note(piece, i, &render->run, err);
}

static bool pack_groups(void *context, struct reel_render *render, struct ahead_piece *piece, struct reel_error *err) {
    (void)context;
    uint64_t room = 0;
    for (uint32_t i = 0; i < piece->n_groups; i++) {
        room += piece->groups[i].packs ? piece->groups[i].size : 0;
    }
    bool good = ahead_room(piece, (size_t)room, err);
    for (uint32_t i = 0; good && i < piece->n_groups; i++) {
        room -= piece->groups[i].packs ? piece->groups[i].size : 0;
        good = !piece->groups[i].packs || pack_group(render, piece, i, room, err);
    }
    return good;
}

/* ---- their places */

typedef bool put_fn(void *context, const void *data, size_t size, struct reel_error *err);

/* Gives the output [from, to) of the plan, which is not packed. */
static bool put_rendered(struct packing *p, put_fn *put, uint64_t from, uint64_t to, struct reel_error *err) {
    if (!p->render) {
        struct reel_stream *stream = conversion_stream(p->conversion, p->plan->initial, err);
        p->render = stream ? reel_render_new(p->plan, p->plan->writer, &p->plan->options, stream, err) : NULL;
        p->buffer = p->buffer ? p->buffer : malloc(OUTPUT_PIECE);
        if (!p->render || !p->buffer) {
            return p->render ? reel_fail_memory(err) : false;
        }
    }
    for (uint64_t at = from; at < to;) {
        size_t n = to - at < OUTPUT_PIECE ? (size_t)(to - at) : OUTPUT_PIECE;
        if (!reel_render_read(p->render, at, p->buffer, n, err) || !put(p->output->context, p->buffer, n, err)) {
            return false;
        }
        at += n;
    }
    return true;
}

/* Puts the group's bytes where they are wanted: `data` NULL: they are not packed. */
static bool put_group(struct packing *p, struct reel_group *group, const uint8_t *data, struct reel_error *err) {
    if (data && p->keeps) {
        p->keeps = group->kept = kept_put(p->plan->kept, group->offset, data, (size_t)group->size);
    }
    if (!p->output) {
        return true;
    }
    return data ? p->output->write(p->output->context, data, (size_t)group->size, err)
                : put_rendered(p, p->output->write, group->offset, group->offset + group->size, err);
}

static bool place_groups(struct packing *p, const struct ahead_piece *piece, struct reel_error *err) {
    const uint8_t *data = piece->data;
    for (uint32_t i = 0; i < piece->n_groups; i++) {
        const struct planned *g = &piece->groups[i];
        const struct reel_bytes note = bytes_of(piece->notes.data + piece->note[i].at, piece->note[i].size);
        if (!plan_place(p->plan, g, note, err) ||
            !put_group(p, &p->plan->groups[p->plan->n_groups - 1], g->packs ? data : NULL, err)) {
            return false;
        }
        data += g->packs ? g->size : 0;
    }
    return true;
}

static bool pack_all(struct packing *p, struct reel_error *err) {
    static const struct ahead_ops ops = {.next = next_groups, .work = pack_groups};
    bool shared = reel_conversion_threads(p->conversion) > 0;
    AUTO(ahead_free) struct ahead *ahead = ahead_new(p->conversion, p->plan, p->plan->initial, shared, &ops, p, err);
    struct reel_error failed = {0};
    struct ahead_piece *piece = NULL;
    if (!ahead) {
        return false;
    }
    for (; (piece = ahead_take(ahead, &failed)); ahead_return(ahead)) {
        if (!piece->good) {
            return reel_error_pass(err, &piece->err);
        }
        if (!place_groups(p, piece, err) || !reel_write_progress(&p->run.w, p->plan->messages, err)) {
            return false;
        }
    }
    return failed.code == REEL_OK || reel_error_pass(err, &failed);
}

/* ---- the whole */

static bool put_tail(struct packing *p, uint64_t tail_at, struct reel_error *err) {
    if (!put_rendered(p, p->output->write, tail_at, p->plan->length, err)) {
        return false;
    }
    if (p->plan->writer->needs & REEL_HEAD_FIRST) {
        return true;
    }
    reel_render_free(TAKE(p->render)); /* it may hold the head as it was */
    return put_rendered(p, p->output->rewrite, 0, p->plan->head_size, err);
}

static bool plan_all(struct packing *p, struct reel_stream *stream, const struct reel_progress *progress,
                     struct reel_error *err) {
    if (!plan_head(&p->run, stream, progress, &p->laid, err) ||
        (p->output && !put_rendered(p, p->output->write, 0, p->plan->head_size, err)) || !pack_all(p, err)) {
        return false;
    }
    uint64_t tail_at = p->plan->length;
    p->laid.pos = tail_at;
    return plan_tail(&p->run, &p->laid, err) && (!p->output || put_tail(p, tail_at, err));
}

struct reel_plan *packing_plan(struct reel_conversion *c, const struct reel_keep *keep,
                               const struct reel_output *output, const struct reel_progress *progress,
                               struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = conversion_stream(c, NULL, err);
    AUTO(reel_plan_free) struct reel_plan *plan = stream ? plan_new(c->writer, &c->options, stream, err) : NULL;
    if (!plan) {
        return NULL;
    }
    plan->kept = keep ? kept_new(keep) : NULL;
    AUTO_STRUCT(packing_done)
    struct packing p = {.conversion = c, .plan = plan, .run.plan = plan, .output = output, .keeps = plan->kept != NULL};
    return plan_all(&p, stream, progress, err) ? reel_plan_ref(plan) : NULL;
}

struct reel_plan *reel_conversion_plan(struct reel_conversion *c, const struct reel_keep *keep,
                                       const struct reel_progress *progress, struct reel_error *err) {
    return packing_plan(c, keep, NULL, progress, err);
}
