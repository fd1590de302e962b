/* See zip_archive.h. */
#include "api/export/zip_archive.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/source.h"
#include "syntax/zip.h"
#include "syntax/zip_write.h"

enum { PIECE = 1 << 20 };

struct zip_items *zip_items_new(uint32_t room, struct reel_error *err) {
    AUTO(zip_items_free) struct zip_items *all = calloc(1, sizeof *all);
    if (!all) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&all->references, 1);
    if (!(all->items = calloc(room, sizeof *all->items))) {
        reel_fail_memory(err);
        return NULL;
    }
    all->room = room;
    return TAKE(all);
}

void zip_items_free(struct zip_items *all) {
    if (!all || atomic_fetch_sub(&all->references, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; i < all->n; i++) {
        reel_conversion_free(all->items[i].conversion);
        free(all->items[i].name);
        free(all->items[i].text);
    }
    if (all->late) {
        all->late->free(all->context);
    }
    free(all->items);
    free(all);
}

static struct zip_items *ref_items(struct zip_items *all) {
    atomic_fetch_add(&all->references, 1);
    return all;
}

/* ---- planning */

struct zip_plan { /* the plans themselves would take too much memory: a member is planned again when it is read */
    _Atomic uint32_t references;
    uint32_t n;
    struct zip_sum *members;
};

void zip_plan_free(struct zip_plan *plan) {
    if (!plan || atomic_fetch_sub(&plan->references, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; plan->members && i < plan->n; i++) {
        free(plan->members[i].text);
    }
    free(plan->members);
    free(plan);
}

struct request { /* the job's */
    struct zip_items *items;
    const struct reel_progress *outer;
    uint32_t done; /* members */
};

static void zip_archive_free_request(void *context) {
    struct request *q = context;
    if (q) {
        zip_items_free(q->items);
        free(q);
    }
}

static bool zip_archive_report(void *context, uint64_t done, uint64_t total) {
    const struct request *q = context;
    (void)done;
    (void)total;
    return !q->outer || !q->outer->report || q->outer->report(q->outer->context, q->done, q->items->n);
}

static bool zip_archive_report_one(const struct request *q, struct reel_error *err) {
    return zip_archive_report((void *)q, 0, 0) || reel_fail(err, REEL_CANCELLED, "planning was cancelled");
}

struct summing { /* one member, from front to back */
    struct zip_sum *sum;
    struct digest digest;
    bool digests;
};

static struct summing sum_begin(const struct request *q, struct zip_sum *sum) {
    struct summing s = {.sum = sum, .digests = q->items->late};
    digest_start(&s.digest, DIGEST_SHA256);
    return s;
}

static void sum_add(struct summing *s, const void *data, size_t size) {
    s->sum->crc = (uint32_t)crc32_z(s->sum->crc, data, size);
    if (s->digests) {
        digest_add(&s->digest, data, size);
    }
}

static void sum_end(struct summing *s) {
    if (s->digests) {
        digest_end_hex(&s->digest, s->sum->sha256);
    }
}

typedef bool read_member(void *member, uint64_t offset, void *buffer, size_t size, struct reel_error *err);

static bool read_conversion(void *member, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return reel_planned_output_read(member, offset, buffer, size, err);
}
static bool read_stored(void *member, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    return reel_source_read(member, offset, buffer, size, err);
}

static bool sum_member(const struct request *q, read_member *read, void *member, struct zip_sum *m,
                       struct reel_error *err) {
    AUTO_MEM uint8_t *piece = malloc(PIECE);
    struct summing s = sum_begin(q, m);
    if (!piece) {
        return reel_fail_memory(err);
    }
    for (uint64_t at = 0; at < m->size;) {
        size_t size = m->size - at < PIECE ? (size_t)(m->size - at) : PIECE;
        if (!zip_archive_report_one(q, err) || !read(member, at, piece, size, err)) {
            return false;
        }
        sum_add(&s, piece, size);
        at += size;
    }
    sum_end(&s);
    return true;
}

static bool plan_conversion(struct request *q, const struct zip_item *item, struct zip_sum *m, struct reel_error *err) {
    const struct reel_progress progress = {.report = zip_archive_report, .context = q};
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(item->conversion, NULL, &progress, err);
    if (!plan) {
        return false;
    }
    m->size = reel_plan_length(plan);
    if (q->items->late) {
        q->items->late->planned(q->items->context, q->done, plan);
    }
    AUTO(reel_planned_output_free)
    struct reel_planned_output *output = reel_conversion_output(item->conversion, plan, err);
    return output && sum_member(q, read_conversion, output, m, err);
}

static struct reel_source *open_stored(const struct zip_items *all, const struct zip_item *item,
                                       struct reel_error *err) {
    AUTO(reel_source_free)
    struct reel_source *source = store_open_blob(all->store, item->sha256, item->sha256, err);
    if (source && source->size != item->size) {
        reel_fail(err, REEL_CHANGED, "the stored file has not the size that it had");
        return NULL;
    }
    return TAKE(source);
}

/* A digest of ours that does not hold would make the package invalid wherever it arrives. */
static bool plan_stored(const struct request *q, const struct zip_item *item, struct zip_sum *m,
                        struct reel_error *err) {
    AUTO(reel_source_free) struct reel_source *source = open_stored(q->items, item, err);
    m->size = item->size;
    return source && sum_member(q, read_stored, source, m, err) &&
           (!m->sha256[0] || strcmp(m->sha256, item->sha256) == 0 ||
            reel_fail(err, REEL_DAMAGED, "the stored file does not have the SHA-256 that it had when it was added"));
}

static bool plan_text(const struct request *q, const struct zip_item *item, struct zip_sum *sums,
                      struct reel_error *err) {
    struct zip_sum *m = &sums[q->done];
    if (!item->text && !(m->text = q->items->late->text(q->items->context, q->done, sums, err))) {
        return false;
    }
    const char *text = item->text ? item->text : m->text;
    struct summing s = sum_begin(q, m);
    m->size = strlen(text);
    sum_add(&s, text, (size_t)m->size);
    sum_end(&s);
    return true;
}

static bool plan_member(struct request *q, const struct zip_item *item, struct zip_sum *sums, struct reel_error *err) {
    bool good = item->conversion  ? plan_conversion(q, item, &sums[q->done], err)
                : item->sha256[0] ? plan_stored(q, item, &sums[q->done], err)
                                  : plan_text(q, item, sums, err);
    return good || reel_error_at(err, "%s", item->name);
}

static bool make_plan(void *context, const struct reel_progress *progress, void **thing, uint64_t *memory,
                      struct reel_error *err) {
    struct request *q = context;
    AUTO(zip_plan_free) struct zip_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        return reel_fail_memory(err);
    }
    atomic_init(&plan->references, 1);
    plan->n = q->items->n;
    q->outer = progress;
    if (!(plan->members = calloc((size_t)plan->n + 1, sizeof *plan->members))) {
        return reel_fail_memory(err);
    }
    *memory = sizeof *plan + plan->n * sizeof *plan->members;
    for (q->done = 0; q->done < plan->n; q->done++) {
        if (!plan_member(q, &q->items->items[q->done], plan->members, err)) {
            return false;
        }
        *memory += plan->members[q->done].text ? plan->members[q->done].size : 0;
    }
    *thing = TAKE(plan);
    return true;
}

static void *ref_plan(void *plan) {
    atomic_fetch_add(&((struct zip_plan *)plan)->references, 1);
    return plan;
}
static void unref_plan(void *plan) {
    zip_plan_free(plan);
}

struct zip_plan *zip_plan_get(struct derived_cache *cache, struct zip_items *items,
                              const struct derived_request *request, char job[33], struct reel_error *err) {
    static const struct derived_kind kind = {.job = "plan",
                                             .make = make_plan,
                                             .free_context = zip_archive_free_request,
                                             .ref = ref_plan,
                                             .unref = unref_plan};
    struct request *q = calloc(1, sizeof *q);
    if (q) {
        q->items = ref_items(items);
    }
    return derived_get(cache, &kind, request, q, job, err);
}

/* ---- the archive */

struct zip_archive {
    struct zip_items *items;
    struct zip_plan *plan;
    struct place {
        uint64_t at, data_at; /* of its head, of its bytes */
    } * places;
    uint8_t *directory;
    uint64_t directory_at, length;
    struct reel_planned_output *output; /* of member `rendered`, … */
    struct reel_source *source;         /* … or its stored file */
    uint32_t rendered;
};

void zip_archive_free(void *archive) {
    struct zip_archive *a = archive;
    if (a) {
        reel_planned_output_free(a->output);
        reel_source_free(a->source);
        zip_plan_free(a->plan);
        zip_items_free(a->items);
        free(a->places);
        free(a->directory);
        free(a);
    }
}
REEL_DEFINE_AUTO(struct zip_archive, zip_archive_free);

static void zip_archive_put_head(const struct zip_archive *a, uint32_t i, struct reel_sink *out) {
    const struct zip_sum *m = &a->plan->members[i];
    zip_put_local(out, a->items->items[i].name, m->crc, m->size, m->size > ZIP_PLAIN_MAX);
}

static void put_directory(const struct zip_archive *a, struct reel_sink *out) {
    for (uint32_t i = 0; i < a->items->n; i++) {
        const struct zip_sum *m = &a->plan->members[i];
        zip_put_central(out, a->items->items[i].name, m->crc, m->size, a->places[i].at, m->size > ZIP_PLAIN_MAX);
    }
    zip_put_end(out, a->directory_at, a->items->n);
}

/* Where everything is. */
static bool lay_out(struct zip_archive *a, struct reel_error *err) {
    struct reel_sink counted = {0};
    for (uint32_t i = 0; i < a->items->n; i++) {
        a->places[i].at = counted.pos;
        zip_archive_put_head(a, i, &counted);
        a->places[i].data_at = counted.pos;
        counted.pos += a->plan->members[i].size;
    }
    a->directory_at = counted.pos;
    put_directory(a, &counted);
    a->length = counted.pos;
    if (!(a->directory = malloc((size_t)(a->length - a->directory_at)))) {
        return reel_fail_memory(err);
    }
    put_directory(
        a, &(struct reel_sink){.pos = a->directory_at, .lo = a->directory_at, .hi = a->length, .buffer = a->directory});
    return true;
}

struct zip_archive *zip_archive_new(struct zip_items *items, struct zip_plan *plan, struct reel_error *err) {
    AUTO(zip_archive_free) struct zip_archive *a = calloc(1, sizeof *a);
    if (!a || !(a->places = calloc((size_t)items->n + 1, sizeof *a->places))) {
        reel_fail_memory(err);
        return NULL;
    }
    a->items = ref_items(items);
    a->plan = ref_plan(plan);
    return lay_out(a, err) ? TAKE(a) : NULL;
}

uint64_t zip_archive_length(const struct zip_archive *a) {
    return a->length;
}

static bool open_member(struct zip_archive *a, uint32_t i, struct reel_error *err) {
    const struct zip_item *item = &a->items->items[i];
    reel_planned_output_free(TAKE(a->output));
    reel_source_free(TAKE(a->source));
    a->rendered = i;
    if (!item->conversion) {
        a->source = open_stored(a->items, item, err);
        return a->source;
    }
    AUTO(reel_plan_free) struct reel_plan *plan = reel_conversion_plan(item->conversion, NULL, NULL, err);
    if (plan && reel_plan_length(plan) != a->plan->members[i].size) {
        return reel_fail(err, REEL_CHANGED, "%s has not the length that it had", item->name);
    }
    a->output = plan ? reel_conversion_output(item->conversion, plan, err) : NULL;
    return a->output;
}

static bool read_data(struct zip_archive *a, uint32_t i, uint64_t offset, uint8_t *buffer, size_t size,
                      struct reel_error *err) {
    const struct zip_item *item = &a->items->items[i];
    if (!item->conversion && !item->sha256[0]) {
        memcpy(buffer, (item->text ? item->text : a->plan->members[i].text) + offset, size);
        return true;
    }
    bool is_open = (a->output || a->source) && a->rendered == i;
    if (!is_open && !open_member(a, i, err)) {
        return false;
    }
    return a->source ? reel_source_read(a->source, offset, buffer, size, err)
                     : reel_planned_output_read(a->output, offset, buffer, size, err);
}

/* Reads up to `size` bytes from `offset` that belong together: of a head, of a member, of the directory. *got is at
 * least 1. */
static bool zip_archive_read_some(struct zip_archive *a, uint64_t offset, uint8_t *buffer, size_t size, size_t *got,
                                  struct reel_error *err) {
    uint32_t low = 0, high = a->items->n;
    while (high - low > 1) { /* the member that it is in */
        uint32_t middle = low + (high - low) / 2;
        *(a->places[middle].at <= offset ? &low : &high) = middle;
    }
    const struct place *p = &a->places[low];
    bool directory = offset >= a->directory_at, head = !directory && offset < p->data_at;
    uint64_t end = directory ? a->length : head ? p->data_at : p->data_at + a->plan->members[low].size;
    *got = end - offset < size ? (size_t)(end - offset) : size;
    if (directory) {
        memcpy(buffer, a->directory + (offset - a->directory_at), *got);
    } else if (head) {
        uint64_t from = offset - p->at;
        zip_archive_put_head(a, low, &(struct reel_sink){.lo = from, .hi = from + *got, .buffer = buffer});
    } else {
        return read_data(a, low, offset - p->data_at, buffer, *got, err);
    }
    return true;
}

bool zip_archive_read(void *archive, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    for (size_t done = 0, got; done < size; done += got) {
        if (!zip_archive_read_some(archive, offset + done, (uint8_t *)buffer + done, size - done, &got, err)) {
            return false;
        }
    }
    return true;
}
