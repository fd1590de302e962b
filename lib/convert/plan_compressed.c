/* See plan_compressed.h. The reader's thread decides which messages each group has. The groups that the writer packs
 * are compressed on the threads of the conversion (pipeline.h) and then, in order, added to the plan. */
#include "convert/plan_compressed.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/pipeline.h"
#include "convert/conversion.h"
#include "convert/group_store.h"
#include "convert/plan.h"

enum {
    OUTPUT_PIECE = 4 << 20,
    PIECE_GROUPS = 16, /* groups in a piece, at most */
};

struct planning {
    struct reel_conversion *conversion;
    struct reel_plan *plan;
    struct writer_run run;      /* decides the groups */
    struct reel_sink estimated; /* positions if each group had its largest size */
    uint64_t groups;            /* decided so far */
    const struct reel_output *output;
    struct reel_planned_output *rendered; /* what is not packed, for `output` */
    uint8_t *buffer;                      /* OUTPUT_PIECE bytes, for it */
    bool stores;                          /* there has been room for all groups so far */
    bool keeps;                           /* the messages of each piece (taken_messages.h) */
    bool hashes;                          /* groups of messages, for run.w.packed_crc */
};

static void planning_done(struct planning *p) {
    reel_planned_output_free(p->rendered);
    writer_run_close(&p->run);
    conversion_return(p->conversion, p->run.w.stream);
    free(p->buffer);
}

/* ---- groups */

struct group_piece {
    struct pipeline_piece base;
    uint64_t first; /* number of the first group */
    uint32_t n;
    struct planned_group groups[PIECE_GROUPS];
    uint32_t crcs[PIECE_GROUPS]; /* of those that are packed, where they are hashed */
    struct {
        size_t at, size; /* in `notes` */
    } note[PIECE_GROUPS];
    struct grow notes;
    struct taken_messages taken; /* where planning keeps them */
};

static void close_piece(struct pipeline_piece *base) {
    struct group_piece *piece = (struct group_piece *)base;
    grow_done(&piece->notes);
    taken_done(&piece->taken);
}

static bool add_note(struct group_piece *piece, uint32_t group, const struct writer_run *run, struct reel_error *err) {
    piece->note[group].at = piece->notes.size;
    piece->note[group].size = run->note.size;
    grow_put(&piece->notes, run->note.data, run->note.size);
    return !piece->notes.failed || reel_fail_memory(err);
}

/* Decides the next groups, as many as make a piece. A group that does not pack ends it. */
static bool next_groups(void *context, struct pipeline_piece *base, struct reel_error *err) {
    struct planning *p = context;
    struct group_piece *piece = (struct group_piece *)base;
    uint64_t from = p->estimated.pos;
    piece->first = p->groups;
    piece->n = 0;
    piece->notes.size = 0;
    taken_clear(&piece->taken);
    p->run.keeps = p->keeps ? &piece->taken : NULL;
    for (bool packs = true;
         packs && piece->n < PIECE_GROUPS && p->estimated.pos - from < pipeline_piece_bytes(base->pipeline);) {
        bool more;
        if (!writer_run_has_more(&p->run, &more, err)) {
            return false;
        }
        if (!more) {
            break;
        }
        struct planned_group *g = &piece->groups[piece->n];
        if (!plan_next_group(&p->run, p->groups, &p->estimated, g, err)) {
            return false;
        }
        packs = g->packs;
        if (!packs && !add_note(piece, piece->n, &p->run, err)) {
            return false;
        }
        piece->n++;
        p->groups++;
    }
    base->ready = piece->n == 1 && !piece->groups[0].packs;
    return piece->n > 0;
}

/* ---- packing */

struct packer {
    struct writer_run run;
    struct reel_conversion *conversion;
    struct reel_stream *stream; /* the conversion's */
    struct reel_stream *taken;  /* gives the messages of a piece instead; NULL: they are read again */
};

static void close_packer(void *worker) {
    struct packer *packer = worker;
    if (packer) {
        writer_run_close(&packer->run);
        reel_stream_free(packer->taken);
        conversion_return(packer->conversion, packer->stream);
        free(packer);
    }
}

static void *open_packer(void *context, struct reel_error *err) {
    const struct planning *p = context;
    struct reel_plan *plan = p->plan;
    struct reel_stream *stream = conversion_stream(p->conversion, plan->initial, err);
    struct packer *packer = stream ? calloc(1, sizeof *packer) : NULL;
    if (!packer) {
        conversion_return(p->conversion, stream);
        return stream ? (reel_fail_memory(err), NULL) : NULL;
    }
    packer->conversion = p->conversion;
    packer->stream = stream;
    packer->run.plan = plan;
    if ((p->keeps && !(packer->taken = taken_stream_new(stream, err))) ||
        !writer_run_open(&packer->run, plan->writer, &plan->options, packer->taken ? packer->taken : stream,
                         plan->totals, false, err)) {
        close_packer(packer);
        return NULL;
    }
    return packer;
}

/* Packs group `i` into the piece. `room`: bytes that the groups after it may need. */
static bool pack_group(struct writer_run *run, struct group_piece *piece, uint32_t i, uint64_t room,
                       struct reel_error *err) {
    struct pipeline_piece *base = &piece->base;
    struct planned_group *g = &piece->groups[i];
    struct reel_sink out = {.hi = base->capacity - base->size, .buffer = base->data + base->size};
    if (!writer_run_pack_group(run, piece->first + i, &g->first, g->count, &out, err)) {
        return false;
    }
    g->size = out.pos;
    if (out.pos > out.hi) { /* once more, with enough room */
        run->stream_group = UINT64_MAX;
        return pipeline_grow(base, base->size + g->size + room, err) && pack_group(run, piece, i, room, err);
    }
    if (run->w.writer->needs & REEL_HASHES_PACKED) {
        piece->crcs[i] = libdeflate_crc32(0, out.buffer, (size_t)out.pos);
    }
    base->size += (size_t)out.pos;
    return add_note(piece, i, run, err);
}

static bool pack_groups(void *context, void *worker, struct pipeline_piece *base, struct reel_error *err) {
    struct group_piece *piece = (struct group_piece *)base;
    const struct packer *packer = worker;
    struct writer_run *run = &((struct packer *)worker)->run;
    uint64_t room = 0;
    (void)context;
    if (packer->taken) {
        taken_stream_begin(packer->taken, &piece->taken);
        run->stream_group = piece->first;
    }
    for (uint32_t i = 0; i < piece->n; i++) {
        room += piece->groups[i].packs ? piece->groups[i].size : 0;
    }
    bool good = pipeline_reserve(base, (size_t)room, err);
    for (uint32_t i = 0; good && i < piece->n; i++) {
        room -= piece->groups[i].packs ? piece->groups[i].size : 0;
        good = !piece->groups[i].packs || pack_group(run, piece, i, room, err);
    }
    return good;
}

/* ---- the plan and the output */

typedef bool put_fn(struct planning *p, const void *data, size_t size, struct reel_error *err);

static bool put_next(struct planning *p, const void *data, size_t size, struct reel_error *err) {
    return !p->output || p->output->write(p->output->context, data, size, err);
}
static bool put_hashed(struct planning *p, const void *data, size_t size, struct reel_error *err) {
    p->run.w.packed_crc = libdeflate_crc32(p->run.w.packed_crc, data, size);
    return put_next(p, data, size, err);
}

/* Renders the bytes [from, to) of the plan and passes them on. */
static bool put_rendered(struct planning *p, put_fn *put, uint64_t from, uint64_t to, struct reel_error *err) {
    if (!p->rendered && !(p->rendered = reel_conversion_output(p->conversion, p->plan, err))) {
        return false;
    }
    if (!p->buffer && !(p->buffer = malloc(OUTPUT_PIECE))) {
        return reel_fail_memory(err);
    }
    for (uint64_t at = from; at < to;) {
        size_t n = to - at < OUTPUT_PIECE ? (size_t)(to - at) : OUTPUT_PIECE;
        if (!reel_planned_output_read(p->rendered, at, p->buffer, n, err) || !put(p, p->buffer, n, err)) {
            return false;
        }
        at += n;
    }
    return true;
}

/* Stores the bytes of a group, hashes them, and passes them to the output, if there is one. `data` NULL: the group is
 * not packed. */
static bool put_group(struct planning *p, struct reel_group *group, const uint8_t *data, uint32_t crc,
                      struct reel_error *err) {
    struct reel_write *w = &p->run.w;
    w->packed_size += p->hashes ? group->size : 0;
    if (!data) {
        return (!p->output && !p->hashes) ||
               put_rendered(p, p->hashes ? put_hashed : put_next, group->offset, group->offset + group->size, err);
    }
    if (p->stores) {
        p->stores = group->kept = group_store_put(p->plan->store, group->offset, data, (size_t)group->size);
    }
    if (p->hashes) {
        w->packed_crc = (uint32_t)crc32_combine(w->packed_crc, crc, (z_off_t)group->size);
    }
    return put_next(p, data, (size_t)group->size, err);
}

static bool append_groups(struct planning *p, const struct group_piece *piece, struct reel_error *err) {
    const uint8_t *data = piece->base.data;
    for (uint32_t i = 0; i < piece->n; i++) {
        const struct planned_group *g = &piece->groups[i];
        const struct reel_bytes note = bytes_of(piece->notes.data + piece->note[i].at, piece->note[i].size);
        if (!plan_append(p->plan, g, note, err) ||
            !put_group(p, &p->plan->groups[p->plan->n_groups - 1], g->packs ? data : NULL, piece->crcs[i], err)) {
            return false;
        }
        data += g->packs ? g->size : 0;
    }
    return true;
}

static bool plan_groups(struct planning *p, struct reel_error *err) {
    static const struct pipeline_ops ops = {.piece_size = sizeof(struct group_piece),
                                            .next = next_groups,
                                            .render = pack_groups,
                                            .open_worker = open_packer,
                                            .close_worker = close_packer,
                                            .close_piece = close_piece};
    unsigned threads = reel_conversion_threads(p->conversion);
    AUTO(pipeline_free)
    struct pipeline *pipeline =
        pipeline_new(threads > 0 ? conversion_client(p->conversion) : NULL, threads, &ops, p, err);
    struct reel_error failed = {0};
    struct pipeline_piece *piece = NULL;
    if (!pipeline) {
        return false;
    }
    for (; (piece = pipeline_take(pipeline, &failed)); pipeline_return(pipeline)) {
        if (!piece->good) {
            return reel_error_pass(err, &piece->err);
        }
        if (!append_groups(p, (struct group_piece *)piece, err) ||
            !reel_write_progress(&p->run.w, p->plan->messages, err)) {
            return false;
        }
    }
    return failed.code == REEL_OK || reel_error_pass(err, &failed);
}

/* ---- the whole */

/* Rendered anew, because the buffer of `rendered` may have the head from before; and whole, because rewrite() replaces
 * the first bytes only. */
static bool put_head_again(struct planning *p, struct reel_error *err) {
    size_t size = (size_t)p->plan->head_size;
    AUTO_MEM uint8_t *head = malloc(size + 1);
    reel_planned_output_free(TAKE(p->rendered));
    return (head || reel_fail_memory(err)) && (p->rendered = reel_conversion_output(p->conversion, p->plan, err)) &&
           reel_planned_output_read(p->rendered, 0, head, size, err) &&
           p->output->rewrite(p->output->context, head, size, err);
}

/* Writes the tail, and the head once more if it depends on what follows. */
static bool put_tail(struct planning *p, uint64_t tail_at, struct reel_error *err) {
    if (!put_rendered(p, put_next, tail_at, p->plan->length, err)) {
        return false;
    }
    return (p->plan->writer->needs & REEL_HEAD_FIRST) || put_head_again(p, err);
}

static bool plan_compressed_put_head(struct planning *p, struct reel_error *err) {
    bool good = put_rendered(p, put_next, 0, p->plan->head_size, err);
    reel_planned_output_free(TAKE(p->rendered)); /* leaves its stream to the groups */
    return good;
}

static bool plan_all(struct planning *p, struct reel_stream *stream, const struct reel_progress *progress,
                     struct reel_error *err) {
    if (!plan_head(&p->run, stream, progress, &p->estimated, err) || (p->output && !plan_compressed_put_head(p, err))) {
        return false;
    }
    bool small = p->plan->writer->needs & REEL_PACKS_PLAIN; /* groups */
    p->run.w.packs_plain = small && (p->output || p->hashes);
    p->keeps = small && (p->run.w.packs_plain || writer_compresses(&p->plan->options));
    bool hashing = p->estimated.hashing;
    p->estimated.hashing = hashing && !p->hashes;
    bool good = plan_groups(p, err);
    p->run.keeps = NULL;
    if (!good) {
        return false;
    }
    uint64_t tail_at = p->plan->length;
    p->estimated.pos = tail_at;
    p->estimated.hashing = hashing;
    return plan_tail(&p->run, &p->estimated, err) && (!p->output || put_tail(p, tail_at, err));
}

struct reel_plan *plan_compressed(struct reel_conversion *c, const struct reel_keep *keep,
                                  const struct reel_output *output, const struct reel_progress *progress,
                                  struct reel_error *err) {
    struct reel_stream *stream = conversion_stream(c, NULL, err);
    AUTO(reel_plan_free) struct reel_plan *plan = stream ? plan_new(c->writer, &c->options, stream, err) : NULL;
    if (!plan) {
        conversion_return(c, stream);
        return NULL;
    }
    bool hashes = c->writer->needs & REEL_HASHES_PACKED;
    /* What is packed only to be hashed costs no more to render than to store. */
    plan->store = keep && (!hashes || writer_compresses(&c->options)) ? group_store_new(keep) : NULL;
    AUTO_STRUCT(planning_done)
    struct planning p = {
        .conversion = c, .plan = plan, .run.plan = plan, .output = output, .stores = plan->store, .hashes = hashes};
    return plan_all(&p, stream, progress, err) ? reel_plan_ref(plan) : NULL;
}

struct reel_plan *reel_conversion_plan(struct reel_conversion *c, const struct reel_keep *keep,
                                       const struct reel_progress *progress, struct reel_error *err) {
    return plan_compressed(c, keep, NULL, progress, err);
}
