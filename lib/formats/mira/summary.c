/* The summary of a tape, without a scan. It reads the file header, all channel infos (they are linked), the head of
 * each channel's index table, and SAMPLE_MESSAGES of its entries with the heads of their messages, at most 64 MiB in
 * all: only these have frame ids and show whether the compression is known. If the samples differ, all messages of the
 * channel are inspected. An inconsistent tape gives no summary. Messages between the sampled ones are assumed to be
 * like them. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "formats/mira/container.h"
#include "index/sample.h"

#include <stdlib.h>

enum {
    READ_BYTES = 4096, /* of one read */
    READ_BYTES_MAX = 64 << 20,
};

typedef unsigned long long ull;

struct position { /* of a message, from the index table */
    uint64_t at;
    int64_t time;
};

struct summary {
    struct mira tape;
    uint64_t *infos; /* their positions, sorted */
    size_t n_infos, cap_infos;
    uint32_t reads_left;
};

struct current { /* the current channel */
    struct mira_channel *channel;
    uint64_t info_at, entries_at;
    uint32_t count;
    int64_t first, last;
    struct mira_convention how;
};

static void summary_close(struct summary *o) {
    mira_close(&o->tape);
    free(o->infos);
}

static bool spend(struct summary *o, uint64_t at, struct reel_error *err) {
    o->tape.peek.capacity = READ_BYTES;
    if (o->reads_left-- == 0) {
        o->reads_left = 0;
        return reel_fail(err, REEL_DAMAGED, "its channels cannot be determined by reading 64 MiB");
    }
    return o->reads_left % 256 != 0 || reel_scan_progress(o->tape.scan, at, o->tape.source->size, err);
}

/* Reads the field that a link refers to: the link is the position of its header, or of its content. */
static bool field_at(struct summary *o, uint64_t link, enum mira_type type, struct mira_field *f,
                     struct reel_error *err) {
    for (uint64_t offset = 0; offset <= MIRA_FIELD_HEAD; offset += MIRA_FIELD_HEAD) {
        bool yes;
        if (link < MIRA_HEADER + offset || link - offset >= o->tape.source->size) {
            continue;
        }
        if (!spend(o, link, err) || !mira_inspect(&o->tape, link - offset, f, &yes, err)) {
            return false;
        }
        if (yes && f->type == type) {
            return true;
        }
    }
    return reel_fail(err, REEL_DAMAGED, "there is no %s at %llu, where a link points",
                     type == MIRA_INFO ? "channel info" : "index", (ull)link);
}

/* ---- messages of a channel ---- */

static bool position_at(struct summary *o, struct current *l, uint32_t i, struct position *out,
                        struct reel_error *err) {
    struct mira *t = &o->tape;
    uint64_t at = l->entries_at + (uint64_t)i * MIRA_INDEX_ENTRY;
    const uint8_t *p = window_at(&t->window, at, MIRA_INDEX_ENTRY, err);
    if (!p) {
        return false;
    }
    struct mira_entry e = mira_entry_of(p, t->header.big);
    bool found = true;
    if (i == 0 && !mira_resolve(t, &e, &l->how, &found, err)) {
        return false;
    }
    *out = (struct position){.at = e.block - l->how.link + e.relative + l->how.message, .time = e.time};
    bool good = found && out->at > l->info_at && out->at < t->source->size && e.time >= l->first && e.time <= l->last;
    return good ||
           reel_fail(err, REEL_DAMAGED, "the index entry at %llu does not refer to a message of its channel", (ull)at);
}

static bool message_at(struct summary *o, const struct current *l, const struct position *position,
                       struct mira_field *f, bool *known, struct reel_error *err) {
    struct mira *t = &o->tape;
    if (!spend(o, position->at, err) || !mira_field_read(t, &t->peek, position->at, f, err)) {
        return false;
    }
    if (f->type != MIRA_MESSAGE || f->message.time != position->time ||
        !bytes_equal(f->message.channel, l->channel->name)) {
        return reel_fail(err, REEL_DAMAGED,
                         "there is no message with its channel and time at %llu, where an index entry points",
                         (ull)position->at);
    }
    return mira_codec_known(&t->window, f, known, err);
}

/* Do all sampled messages have the same frame id and kind of compression? */
static bool mira_sample(struct summary *o, struct current *l, bool *alike, struct reel_error *err) {
    uint64_t kind = 0;
    *alike = true;
    for (uint32_t k = 0; k < SAMPLE_MESSAGES && *alike; k++) {
        struct position position;
        struct mira_field f;
        bool known;
        if (!position_at(o, l, sample_number(k, l->count), &position, err) ||
            !message_at(o, l, &position, &f, &known, err)) {
            return false;
        }
        uint64_t h = mira_hash(&o->tape, known, f.message.frame);
        *alike = k == 0 || h == kind;
        kind = h;
    }
    return true;
}

static int position_compare(const void *a, const void *b) {
    const struct position *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Reads the heads of `n` messages, in file order. */
static bool mira_take_messages(struct summary *o, struct current *l, uint32_t n, struct reel_error *err) {
    if (n > o->reads_left) {
        return reel_fail(err, REEL_DAMAGED, "too many messages would have to be read for their frame ids");
    }
    AUTO_MEM struct position *positions = malloc(n * sizeof *positions);
    if (!positions) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!position_at(o, l, i, &positions[i], err)) {
            return false;
        }
    }
    qsort(positions, n, sizeof *positions, position_compare);
    for (uint32_t i = 0; i < n; i++) {
        struct mira_field f;
        bool known;
        uint32_t number;
        if (!message_at(o, l, &positions[i], &f, &known, err) ||
            !mira_frame_number(&o->tape, l->channel, f.message.frame, f.at, &number, err)) {
            return false;
        }
        l->channel->unknown += !known;
    }
    return true;
}

/* ---- channels ---- */

static bool take_channel(struct summary *o, uint64_t at, struct reel_error *err) {
    struct mira *t = &o->tape;
    struct mira_field f, table;
    if (!spend(o, at, err) || !mira_field_read(t, &t->peek, at, &f, err)) {
        return false;
    }
    if (f.info.meta_size > MIRA_META_MAX || mira_table_get(t, 0, f.info.name) > 0) {
        return reel_fail(err, REEL_DAMAGED, "the channel info at %llu is too large, or its channel has another one",
                         (ull)at);
    }
    if (!mira_read_info(t, &f, err)) {
        return false;
    }
    struct current l = {
        .channel = t->channels[t->n_channels - 1], .info_at = at, .first = f.info.first, .last = f.info.last};
    if (f.info.index == 0 && f.info.first == 0 && f.info.last == 0 && f.info.data_size == 0) {
        return true; /* without messages */
    }
    t->window.capacity = READ_BYTES; /* long meta data may have enlarged it; spend() resets the other window */
    if (!field_at(o, f.info.index, MIRA_INDEX, &table, err)) {
        return false;
    }
    if (table.index.count == 0) {
        return true;
    }
    l.entries_at = table.index.entries_at;
    l.count = table.index.count;
    bool alike = false;
    if (l.count > SAMPLE_MESSAGES && !mira_sample(o, &l, &alike, err)) {
        return false;
    }
    const struct reel_channel_stats stats = {
        .count = l.count, .first_ns = mira_absolute(t, l.first, at), .last_ns = mira_absolute(t, l.last, at)};
    return mira_take_messages(o, &l, alike ? 1 : l.count, err) && reel_scan_count(t->scan, l.channel->id, &stats, err);
}

/* Channels are in the order of their infos, as in a walk, because an info precedes its messages. */
static bool find_infos(struct summary *o, struct reel_error *err) {
    struct mira_field f;
    for (uint64_t link = o->tape.header.first_info; link != 0; link = f.info.next) {
        if (o->n_infos == REEL_CHANNELS_MAX) {
            return reel_fail(err, REEL_DAMAGED, "the links between its channel infos do not end");
        }
        if (!field_at(o, link, MIRA_INFO, &f, err)) {
            return false;
        }
        if (!GROW_ARRAY(o->infos, o->n_infos, o->cap_infos)) {
            return reel_fail_memory(err);
        }
        o->infos[o->n_infos++] = f.at;
    }
    if (o->n_infos > 0) {
        qsort(o->infos, o->n_infos, sizeof *o->infos, order_u64);
    }
    return true;
}

static bool summary_run(struct summary *o, struct reel_error *err) {
    const struct mira_header *h = &o->tape.header;
    if (h->first_info == 0 && o->tape.source->size > MIRA_HEADER) {
        return reel_fail(err, REEL_DAMAGED, "the tape was not closed: it has no links to channel infos and index");
    }
    if (!find_infos(o, err)) {
        return false;
    }
    for (size_t i = 0; i < o->n_infos; i++) {
        if (!take_channel(o, o->infos[i], err)) {
            return false;
        }
    }
    return mira_finish_channels(&o->tape, err);
}

bool mira_summary(struct reel_scan *scan, struct reel_error *err) {
    AUTO_STRUCT(summary_close) struct summary o = {.reads_left = READ_BYTES_MAX / READ_BYTES};
    struct reel_error why = {0};
    if (!mira_begin(&o.tape, scan, READ_BYTES, err)) {
        return false;
    }
    bool good = summary_run(&o, &why);
    why.code = why.code == REEL_DAMAGED ? REEL_UNSUPPORTED : why.code;
    return good || reel_error_pass(err, &why);
}
