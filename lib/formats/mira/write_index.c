/* The end of a tape: index tables in the order of the channel infos, then the infos of channels without messages.
 * Entries are numbered consecutively over all tables; a part of the tail is a range of these numbers. The positions of
 * messages are not stored: each part computes them again by walking the groups that have its channels. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/mira/write.h"

#include <stdlib.h>

enum {
    PART_ENTRIES = 1 << 18, /* 6 MiB: each part walks through the groups that have its channels */
    TABLE_MAX = (UINT32_MAX - 4) / MIRA_INDEX_ENTRY,
};

static uint64_t entries_of(const struct mira_totals *t) {
    uint64_t entries = 0;
    for (uint32_t i = 0; i < t->n_order; i++) {
        entries += t->messages[t->order[i]];
    }
    return entries;
}

bool mira_position_tables(struct reel_write *w, struct reel_error *err) {
    struct mira_run *run = w->run;
    const struct mira_totals *t = w->totals;
    uint64_t at = reel_write_tail_offset(w, 0);
    if (!(run->index_at = arena_alloc(&run->arena, ((size_t)w->stream->n_channels + 1) * sizeof *run->index_at))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < t->n_order; i++) {
        uint64_t messages = t->messages[t->order[i]];
        run->index_at[t->order[i]] = messages > 0 ? at : 0;
        at += messages > 0 ? MIRA_FIELD_HEAD + 4 + messages * MIRA_INDEX_ENTRY : 0;
    }
    return true;
}

static uint64_t table_parts(const struct mira_totals *t) {
    return (entries_of(t) + PART_ENTRIES - 1) / PART_ENTRIES;
}

static bool has_unused(const struct reel_write *w) {
    const struct mira_totals *t = w->totals;
    for (uint32_t c = 0; c < w->stream->n_channels; c++) {
        if (t->messages[c] == 0) {
            return true;
        }
    }
    return false;
}

uint64_t mira_tail_parts(struct reel_write *w) {
    return table_parts(w->totals) + has_unused(w);
}

/* One part of the tables being gathered. */
struct gather {
    uint64_t *next;    /* by channel: the number of its next entry */
    uint64_t from, to; /* the range of the part */
    uint8_t *entries;
    uint64_t group, block, at; /* current position of the pass */
    struct mira_note note;
    uint32_t size_at; /* position of the next size in the note */
};

static bool gather_message(struct reel_write *w, const struct reel_message *m, void *context, struct reel_error *err) {
    struct gather *g = context;
    const struct mira_run *run = w->run;
    uint32_t stored = m->size;
    int64_t time;
    if (mira_may_compress(w, m)) {
        if (g->size_at >= g->note.n_sizes) {
            return reel_fail(err, REEL_CHANGED, "the recording has other messages than were planned");
        }
        stored = load_u32le(g->note.sizes + (size_t)g->size_at++ * 4);
    }
    g->at += mira_is_first(w, m->channel, g->group) ? mira_info_size(&run->channels[m->channel]) : 0;
    uint64_t number = g->next[m->channel]++;
    if (number >= g->from && number < g->to) {
        if (!mira_out_time(w, m, &time, err)) {
            return false;
        }
        uint8_t *entry = g->entries + (number - g->from) * MIRA_INDEX_ENTRY;
        store_u64le(entry, g->block);
        store_u64le(entry + 8, g->at - g->block);
        store_u64le(entry + 16, (uint64_t)time);
    }
    g->at += mira_message_size(w, m, stored);
    return true;
}

/* Walks the groups that have entries of the part; of the others only the counts are used. */
static bool gather_groups(struct reel_write *w, struct gather *g, struct reel_error *err) {
    struct mira_run *run = w->run;
    for (g->group = 0; g->group < reel_write_groups(w); g->group++) {
        const struct reel_group *group = reel_write_group(w, g->group);
        bool wanted = false;
        g->note = mira_note_of(group);
        for (uint32_t i = 0; i < g->note.n_rows; i++) {
            const uint8_t *row = g->note.rows + (size_t)i * MIRA_NOTE_ROW;
            uint64_t number = g->next[load_u32le(row)];
            wanted |= number < g->to && number + load_u32le(row + 4) > g->from;
        }
        if (wanted) {
            g->block = group->offset;
            g->at = group->offset + MIRA_FIELD_HEAD + MIRA_BLOCK_HEAD;
            g->size_at = 0;
            run->pass++;
            if (!reel_write_walk(w, g->group, gather_message, g, err)) {
                return false;
            }
            continue;
        }
        for (uint32_t i = 0; i < g->note.n_rows; i++) {
            const uint8_t *row = g->note.rows + (size_t)i * MIRA_NOTE_ROW;
            g->next[load_u32le(row)] += load_u32le(row + 4);
        }
    }
    return true;
}

static bool gather_part(struct reel_write *w, struct gather *g, struct reel_error *err) {
    const struct mira_totals *t = w->totals;
    AUTO_MEM uint64_t *next = calloc((size_t)w->stream->n_channels + 1, sizeof *next);
    if (!next) {
        return reel_fail_memory(err);
    }
    uint64_t number = 0;
    for (uint32_t i = 0; i < t->n_order; i++) {
        next[t->order[i]] = number;
        number += t->messages[t->order[i]];
    }
    g->next = next;
    return gather_groups(w, g, err);
}

static bool mira_write_index_put_table_head(struct reel_write *w, uint32_t channel, struct reel_sink *out,
                                            struct reel_error *err) {
    const struct mira_totals *t = w->totals;
    uint64_t messages = t->messages[channel];
    if (messages > TABLE_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "topic %s: %llu messages are more than an index of a tape can hold (%u)",
                         w->stream->channels[channel]->name, (unsigned long long)messages, (unsigned)TABLE_MAX);
    }
    reel_sink_u8(out, MIRA_INDEX);
    reel_sink_u32le(out, (uint32_t)(4 + messages * MIRA_INDEX_ENTRY));
    reel_sink_u32le(out, (uint32_t)messages);
    return true;
}

static bool mira_put_tables(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    const struct mira_totals *t = w->totals;
    struct gather g = {.from = part * PART_ENTRIES, .to = (part + 1) * PART_ENTRIES};
    AUTO_MEM uint8_t *entries = w->planning ? NULL : calloc(PART_ENTRIES, MIRA_INDEX_ENTRY);
    g.entries = entries;
    if (!w->planning && (!entries ? !reel_fail_memory(err) : !gather_part(w, &g, err))) {
        return false;
    }
    uint64_t start = 0; /* number of the table's first entry */
    for (uint32_t i = 0; i < t->n_order && start < g.to; start += t->messages[t->order[i]], i++) {
        uint64_t end = start + t->messages[t->order[i]];
        uint64_t from = start > g.from ? start : g.from, to = end < g.to ? end : g.to;
        if (from >= to) {
            continue;
        }
        if (from == start && !mira_write_index_put_table_head(w, t->order[i], out, err)) {
            return false;
        }
        if (w->planning) {
            reel_sink_fill(out, 0, (to - from) * MIRA_INDEX_ENTRY);
        } else {
            reel_sink_put(out, entries + (from - g.from) * MIRA_INDEX_ENTRY, (to - from) * MIRA_INDEX_ENTRY);
        }
    }
    return true;
}

bool mira_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    const struct mira_totals *t = w->totals;
    if (part < table_parts(t)) {
        return mira_put_tables(w, part, out, err);
    }
    for (uint32_t c = 0; c < w->stream->n_channels; c++) {
        if (t->messages[c] == 0) {
            mira_put_info(w, c, out);
        }
    }
    return true;
}
