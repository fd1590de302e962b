/* When there is damage: the times of the messages stored before and after each loss (index/index.h). */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "index/index.h"

struct place { /* in the recording's files */
    uint64_t offset;
    uint32_t part;
};
struct side { /* the message next to a loss */
    struct place place;
    int64_t time_ns;
    bool known;
};
struct damage {
    const struct reel_index *index;
    struct place *chunks; /* by id, without the parts, which are the first ids */
    size_t n_chunks, cap_chunks;
    struct place *losses; /* in order */
    size_t n;
    struct side *first, *last; /* of what is before loss i, or after all (n) */
};

static int place_compare(const struct place *a, const struct place *b) {
    return a->part != b->part ? (a->part > b->part) - (a->part < b->part)
                              : (a->offset > b->offset) - (a->offset < b->offset);
}

static int by_place(const void *a, const void *b) {
    return place_compare(a, b);
}

/* How many losses begin at this place or before. */
static size_t losses_before(const struct damage *d, const struct place *place) {
    size_t low = 0, high = d->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (place_compare(&d->losses[middle], place) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Of an entry of the chunk; what is in a compressed chunk is where that is. */
static struct place place_of(const struct damage *d, uint32_t chunk, uint64_t offset) {
    uint32_t parts = d->index->model.n_parts;
    return chunk < parts                 ? (struct place){offset, chunk}
           : chunk - parts < d->n_chunks ? d->chunks[chunk - parts]
                                         : (struct place){0};
}

static bool add_chunk(void *context, const struct reel_chunk *chunk) {
    struct damage *d = context;
    if (d->n_chunks == d->cap_chunks) {
        return false; /* more than the index says that there are */
    }
    d->chunks[d->n_chunks] = chunk->part & REEL_CHUNK_PART ? place_of(d, chunk->part & ~REEL_CHUNK_PART, chunk->offset)
                                                           : (struct place){chunk->offset, chunk->part};
    d->n_chunks++;
    return true;
}

static void add_entry(struct damage *d, const struct reel_entry *e) {
    const struct side now = {place_of(d, e->chunk, e->offset), e->time_ns, true};
    size_t at = losses_before(d, &now.place);
    struct side *first = &d->first[at], *last = &d->last[at];
    int order = first->known ? place_compare(&now.place, &first->place) : -1;
    if (order < 0 || (order == 0 && now.time_ns < first->time_ns)) {
        *first = now;
    }
    order = last->known ? place_compare(&now.place, &last->place) : 1;
    if (order > 0 || (order == 0 && now.time_ns > last->time_ns)) {
        *last = now;
    }
}

static bool add_segment(struct damage *d, const struct pack_segment *s, struct reel_error *err) {
    AUTO_MEM uint8_t *data = malloc(s->size ? s->size : 1);
    struct pack_cursor cursor;
    struct reel_entry e;
    if (!data) {
        return reel_fail_memory(err);
    }
    if (!index_read_segment(d->index, s, data, err)) {
        return false;
    }
    if (!pack_cursor_open(&cursor, bytes_of(data, s->size), s->count, s->channel)) {
        return reel_fail(err, REEL_CHANGED, "a segment of the index does not hold together");
    }
    while (pack_cursor_next(&cursor, &e)) {
        add_entry(d, &e);
    }
    return true;
}

/* The times around the loss at this place: of the nearest messages of the same file. */
static struct reel_span span_of(const struct damage *d, const struct place *loss) {
    size_t at = losses_before(d, loss);
    const struct side *before = NULL, *after = NULL;
    for (size_t i = at; i-- > 0 && !before;) {
        before = d->last[i].known ? &d->last[i] : NULL;
    }
    for (size_t i = at; i <= d->n && !after; i++) {
        after = d->first[i].known ? &d->first[i] : NULL;
    }
    before = before && before->place.part == loss->part ? before : NULL;
    after = after && after->place.part == loss->part ? after : NULL;
    if (!before && !after) {
        return (struct reel_span){0};
    }
    int64_t a = before ? before->time_ns : after->time_ns, b = after ? after->time_ns : a;
    return (struct reel_span){.first_ns = a < b ? a : b, .last_ns = a < b ? b : a, .count = 1};
}

static bool read_index(struct damage *d, struct reel_error *err) {
    const struct pack_model *m = &d->index->model;
    bool good = reel_index_chunks(d->index, add_chunk, d, err);
    for (size_t i = 0; i < m->n_segments && good; i++) {
        good = add_segment(d, &m->segments[i], err);
    }
    return good;
}

/* Of what is in a compressed file only the file is known. */
static bool is_placed(const struct reel_finding *f) {
    return f->severity == REEL_LOSS && (f->offset > 0 || f->length > 0);
}

bool index_loss_times(const struct reel_index *index, struct reel_span *out, struct reel_error *err) {
    const struct pack_model *m = &index->model;
    struct damage d = {.index = index, .cap_chunks = m->n_chunks};
    d.chunks = calloc(d.cap_chunks + 1, sizeof *d.chunks);
    d.losses = calloc(m->n_findings + 1, sizeof *d.losses);
    d.first = calloc(m->n_findings + 1, sizeof *d.first);
    d.last = calloc(m->n_findings + 1, sizeof *d.last);
    bool good = (d.chunks && d.losses && d.first && d.last) || reel_fail_memory(err);
    for (size_t i = 0; i < m->n_findings && good; i++) {
        const struct reel_finding *f = &m->findings[i];
        if (is_placed(f)) {
            d.losses[d.n++] = (struct place){f->offset, f->part};
        }
    }
    if (good && d.n > 0) {
        qsort(d.losses, d.n, sizeof *d.losses, by_place);
        good = read_index(&d, err);
    }
    for (size_t i = 0; i < m->n_findings && good; i++) {
        const struct reel_finding *f = &m->findings[i];
        out[i] = is_placed(f) ? span_of(&d, &(struct place){f->offset, f->part}) : (struct reel_span){0};
    }
    free(d.chunks);
    free(d.losses);
    free(d.first);
    free(d.last);
    return good;
}
