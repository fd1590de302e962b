/* The summary of a tape, without a scan. It reads the file header, all channel infos (they are linked), the head of each channel's index
 * table, and SAMPLE_MESSAGES of its entries with the heads of their messages, at most 64 MiB in all: only these have frame ids and show
 * whether the compression is known. If the samples differ, all messages of the channel are inspected. An inconsistent tape gives no
 * summary. Messages between the sampled ones are assumed to be like them. */
#include "core/sample.h"
#include "formats/mira/mira.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"

#include <stdlib.h>

enum {
    LOOK = 4096, /* one read */
    LOOK_BYTES_MAX = 64 << 20,
};

typedef unsigned long long ull;

struct place { /* of a message, as the table says */
    uint64_t at;
    int64_t time;
};

struct summary {
    struct mira tape;
    uint64_t *infos; /* where they stand, sorted */
    size_t n_infos, cap_infos;
    uint32_t looks_left;
};

struct listed { /* the channel at hand */
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
    o->tape.peek.capacity = LOOK;
    if (o->looks_left-- == 0) {
        o->looks_left = 0;
        return reel_fail(err, REEL_DAMAGED, "its channels are not known without reading more than 64 MiB");
    }
    return o->looks_left % 256 != 0 || reel_scan_progress(o->tape.scan, at, o->tape.source->size, err);
}

/* The field that a link means: at its header or behind it. */
static bool field_at(struct summary *o, uint64_t link, enum mira_type type, struct mira_field *f, struct reel_error *err) {
    for (uint64_t behind = 0; behind <= MIRA_FIELD_HEAD; behind += MIRA_FIELD_HEAD) {
        bool yes;
        if (link < MIRA_HEADER + behind || link - behind >= o->tape.source->size) {
            continue;
        }
        if (!spend(o, link, err) || !mira_inspect(&o->tape, link - behind, f, &yes, err)) {
            return false;
        }
        if (yes && f->type == type) {
            return true;
        }
    }
    return reel_fail(err, REEL_DAMAGED, "no %s stands at %llu, where there should be one", type == MIRA_INFO ? "channel info" : "index",
                     (ull)link);
}

/* ---- messages of a channel ---- */

static bool place_at(struct summary *o, struct listed *l, uint32_t i, struct place *out, struct reel_error *err) {
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
    *out = (struct place){.at = e.block - l->how.link + e.relative + l->how.place, .time = e.time};
    bool good = found && out->at > l->info_at && out->at < t->source->size && e.time >= l->first && e.time <= l->last;
    return good || reel_fail(err, REEL_DAMAGED, "the index entry at %llu names no message of its channel", (ull)at);
}

static bool message_at(struct summary *o, const struct listed *l, const struct place *place, struct mira_field *f, bool *known,
                       struct reel_error *err) {
    struct mira *t = &o->tape;
    if (!spend(o, place->at, err) || !mira_field_read(t, &t->peek, place->at, f, err)) {
        return false;
    }
    if (f->type != MIRA_MESSAGE || f->message.time != place->time || !bytes_equal(f->message.channel, l->channel->name)) {
        return reel_fail(err, REEL_DAMAGED, "no message of its channel and time stands at %llu, where an index names one", (ull)place->at);
    }
    return mira_codec_known(&t->window, f, known, err);
}

/* Have the sampled messages one frame id, and one sort of compression? */
static bool sample(struct summary *o, struct listed *l, bool *alike, struct reel_error *err) {
    uint64_t kind = 0;
    *alike = true;
    for (uint32_t k = 0; k < SAMPLE_MESSAGES && *alike; k++) {
        struct place place;
        struct mira_field f;
        bool known;
        if (!place_at(o, l, sample_number(k, l->count), &place, err) || !message_at(o, l, &place, &f, &known, err)) {
            return false;
        }
        uint64_t h = mira_hash(&o->tape, known, f.message.frame);
        *alike = k == 0 || h == kind;
        kind = h;
    }
    return true;
}

static int place_compare(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Takes what the heads of `n` messages tell, in file order. */
static bool take_messages(struct summary *o, struct listed *l, uint32_t n, struct reel_error *err) {
    if (n > o->looks_left) {
        return reel_fail(err, REEL_DAMAGED, "too many messages would have to be looked at for their frame ids");
    }
    AUTO_MEM struct place *places = malloc(n * sizeof *places);
    if (!places) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!place_at(o, l, i, &places[i], err)) {
            return false;
        }
    }
    qsort(places, n, sizeof *places, place_compare);
    for (uint32_t i = 0; i < n; i++) {
        struct mira_field f;
        bool known;
        uint32_t number;
        if (!message_at(o, l, &places[i], &f, &known, err) ||
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
        return reel_fail(err, REEL_DAMAGED, "the channel info at %llu is of a channel that another one describes, or too large", (ull)at);
    }
    if (!mira_take_info(t, &f, err)) {
        return false;
    }
    struct listed l = {.channel = t->channels[t->n_channels - 1], .info_at = at, .first = f.info.first, .last = f.info.last};
    if (f.info.index == 0 && f.info.first == 0 && f.info.last == 0 && f.info.data_size == 0) {
        return true; /* without messages */
    }
    t->window.capacity = LOOK; /* what long meta data made it grow to is not read again and again; so with the other, in spend() */
    if (!field_at(o, f.info.index, MIRA_INDEX, &table, err)) {
        return false;
    }
    if (table.index.count == 0) {
        return true;
    }
    l.entries_at = table.index.entries_at;
    l.count = table.index.count;
    bool alike = false;
    if (l.count > SAMPLE_MESSAGES && !sample(o, &l, &alike, err)) {
        return false;
    }
    const struct reel_channel_stats said = {
        .count = l.count, .first_ns = mira_absolute(t, l.first, at), .last_ns = mira_absolute(t, l.last, at)};
    return take_messages(o, &l, alike ? 1 : l.count, err) && reel_scan_count(t->scan, l.channel->id, &said, err);
}

static int info_compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A walk meets channels by their infos, which stand before their messages. */
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
        qsort(o->infos, o->n_infos, sizeof *o->infos, info_compare);
    }
    return true;
}

static bool summary_run(struct summary *o, struct reel_error *err) {
    const struct mira_header *h = &o->tape.header;
    if (h->first_info == 0 && o->tape.source->size > MIRA_HEADER) {
        return reel_fail(err, REEL_DAMAGED, "the tape was not closed: it links no channel infos and no index");
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
    AUTO_STRUCT(summary_close) struct summary o = {.looks_left = LOOK_BYTES_MAX / LOOK};
    struct reel_error why = {0};
    if (!mira_begin(&o.tape, scan, LOOK, err)) {
        return false;
    }
    bool good = summary_run(&o, &why);
    why.code = why.code == REEL_DAMAGED ? REEL_UNSUPPORTED : why.code;
    return good || reel_error_pass(err, &why);
}
