/* Compares what a tape states – block count, links between channel infos, their sums, index tables – with what the walk
 * found. Differences are only reported. */
#include "base/bytes.h"
#include "formats/mira/container.h"

#include <stdlib.h>

/* ---- index fields, during the walk ---- */

struct mira_entry mira_entry_of(const uint8_t *p, bool big) {
    struct cursor c = cursor_of(bytes_of(p, MIRA_INDEX_ENTRY));
    struct mira_entry e = {.block = mira_u64(&c, big)};
    e.relative = mira_u64(&c, big);
    e.time = (int64_t)mira_u64(&c, big);
    return e;
}

static bool byte_is(struct mira *t, uint64_t at, uint8_t type, bool *yes, struct reel_error *err) {
    *yes = false;
    if (at >= t->source->size) {
        return true;
    }
    const uint8_t *p = window_at(&t->peek, at, 1, err);
    *yes = p && *p == type;
    return p != NULL;
}

static bool message_is(struct mira *t, uint64_t at, int64_t time, bool *yes, struct reel_error *err) {
    *yes = false;
    if (at >= t->source->size || t->source->size - at < MIRA_FIELD_HEAD + 8) {
        return true;
    }
    const uint8_t *p = window_at(&t->peek, at, MIRA_FIELD_HEAD + 8, err);
    if (p) {
        struct cursor c = cursor_of(bytes_of(p + MIRA_FIELD_HEAD, 8));
        *yes = *p == MIRA_MESSAGE && (int64_t)mira_u64(&c, t->header.big) == time;
    }
    return p != NULL;
}

bool mira_resolve(struct mira *t, const struct mira_entry *e, struct mira_convention *out, bool *found,
                  struct reel_error *err) {
    static const struct mira_convention known[] = {{0, 0},
                                                   {MIRA_FIELD_HEAD, 0},
                                                   {MIRA_FIELD_HEAD, MIRA_FIELD_HEAD},
                                                   {0, MIRA_FIELD_HEAD + MIRA_BLOCK_HEAD},
                                                   {MIRA_FIELD_HEAD, MIRA_FIELD_HEAD + MIRA_BLOCK_HEAD}};
    *found = false;
    for (size_t i = 0; i < sizeof known / sizeof *known && !*found; i++) {
        uint64_t block = e->block - known[i].link;
        bool is_block;
        *out = known[i];
        if (!byte_is(t, block, MIRA_BLOCK, &is_block, err) ||
            (is_block && !message_is(t, block + e->relative + known[i].message, e->time, found, err))) {
            return false;
        }
    }
    return true;
}

bool mira_read_index(struct mira *t, const struct mira_field *f, struct reel_error *err) {
    struct mira_table table = {.at = f->at, .count = f->index.count};
    struct mira_convention how = {0};
    for (uint32_t i = 0; i < f->index.count; i++) {
        uint64_t at = f->index.entries_at + (uint64_t)i * MIRA_INDEX_ENTRY;
        const uint8_t *p = window_at(&t->window, at, MIRA_INDEX_ENTRY, err);
        if (!p || !mira_progress(t, at, err)) {
            return false;
        }
        struct mira_entry e = mira_entry_of(p, t->header.big);
        if (i == 0 && !mira_resolve(t, &e, &how, &table.resolved, err)) {
            return false;
        }
        uint64_t block = e.block - how.link;
        table.sum += mira_position_hash(block, block + e.relative + how.message, e.time);
    }
    if (t->n_tables == MIRA_TABLES_MAX) {
        return true;
    }
    if (!GROW_ARRAY(t->tables, t->n_tables, t->cap_tables)) {
        return reel_fail_memory(err);
    }
    t->tables[t->n_tables++] = table;
    return true;
}

/* ---- after the walk ---- */

/* The index of the info or table whose header or content is at `link`; n: none. Both structs begin with their position
 * and are sorted by it. */
static size_t find_link(const void *items, size_t n, size_t item_size, uint64_t link) {
    size_t low = 0, high = n;
    uint64_t at = 0;
    while (low < high) { /* finds the first one whose content is at `link` or later */
        size_t middle = low + (high - low) / 2;
        memcpy(&at, (const uint8_t *)items + middle * item_size, sizeof at);
        if (at + MIRA_FIELD_HEAD < link) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < n) {
        memcpy(&at, (const uint8_t *)items + low * item_size, sizeof at);
    }
    return low < n && (at == link || at + MIRA_FIELD_HEAD == link) ? low : n;
}

/* Follows the links between infos, each at most once. */
static void check_chain(struct mira *t) {
    uint64_t link = t->header.first_info;
    size_t met = 0;
    while (link != 0 && met < t->n_infos) {
        size_t i = find_link(t->infos, t->n_infos, sizeof *t->infos, link);
        if (i == t->n_infos) {
            reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0,
                              "the links between channel infos are broken: there is none at %llu",
                              (unsigned long long)link);
            return;
        }
        met++;
        link = t->infos[i].next;
    }
    if (link != 0 || met != t->n_infos) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0, "the links between channel infos reach %zu of %zu%s", met,
                          t->n_infos, link != 0 ? " and do not end" : "");
    }
}

static void check_table(struct mira *t, const struct mira_info *info, const struct mira_channel *c) {
    size_t i = find_link(t->tables, t->n_tables, sizeof *t->tables, info->index);
    if (i == t->n_tables) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, info->at, 0,
                          "the channel info at %llu links to an index at %llu, but there is none",
                          (unsigned long long)info->at, (unsigned long long)info->index);
        return;
    }
    const struct mira_table *table = &t->tables[i];
    if (table->count != c->messages) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, table->at, 0,
                          "the index at %llu has %u messages, but %llu were found", (unsigned long long)table->at,
                          table->count, (unsigned long long)c->messages);
    } else if (table->sum != c->sum) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, table->at, 0,
                          "the index at %llu has %sother positions or times than the %llu messages found",
                          (unsigned long long)table->at, table->resolved ? "some " : "",
                          (unsigned long long)c->messages);
    }
}

struct indexes { /* that are missing */
    struct mira_count none, beyond_end;
};

static void check_info(struct mira *t, const struct mira_info *info, struct indexes *missing,
                       struct mira_count *wrong) {
    const struct mira_channel *c = t->channels[info->channel];
    if (info->index >= t->source->size) {
        mira_count(&missing->beyond_end, info->at);
    } else if (info->index == 0 && c->messages > 0) {
        mira_count(&missing->none, info->at);
    } else if (info->index != 0) {
        check_table(t, info, c);
    }
    bool blank = info->first == 0 && info->last == 0 && info->data_size == 0;
    if (!blank && (info->data_size != c->stored_bytes ||
                   (c->messages > 0 && (info->first != c->first || info->last != c->last)))) {
        mira_count(wrong, info->at);
    }
}

static void mira_report(struct mira *t, enum reel_severity severity, const struct mira_count *c, const char *what) {
    if (c->n > 0) {
        reel_scan_finding(t->scan, severity, 0, c->at, 0, "%s: %llu, the first at %llu", what, (unsigned long long)c->n,
                          (unsigned long long)c->at);
    }
}

static void mira_report_counts(struct mira *t) {
    mira_report(t, REEL_WARNING, &t->wrong_sizes, "fields whose size does not match their content");
    mira_report(t, REEL_WARNING, &t->wrong_blocks,
                "message blocks whose stated counts, sizes or times do not match their content");
    mira_report(t, REEL_WARNING, &t->no_block, "messages outside of blocks");
    mira_report(t, REEL_WARNING, &t->late_infos, "channel infos after the first message of their channel");
    mira_report(t, REEL_NOTE, &t->again_infos, "channels with several channel infos");
    mira_report(t, REEL_WARNING, &t->big_metas, "channels whose meta data exceed 16 MiB and are dropped");
    mira_report(t, REEL_WARNING, &t->clamped,
                "messages with times after the year 2262, the latest that can be stored: set to that time");
    mira_report(t, REEL_WARNING, &t->no_frame, "messages whose frame ids are dropped: too many or too long");
    mira_report(t, REEL_NOTE, &t->unproved, "compressed messages too large to verify");
}

void mira_check(struct mira *t) {
    bool unfinished = t->header.blocks == 0 && t->header.first_info == 0 && t->blocks + t->n_infos > 0;
    struct indexes missing = {.none = {0}};
    struct mira_count wrong = {0};
    if (unfinished) {
        reel_scan_finding(
            t->scan, REEL_NOTE, 0, 0, 0,
            "the tape was not closed: its header has no block count and no link to a channel info; %llu blocks found",
            (unsigned long long)t->blocks);
    } else {
        check_chain(t);
        if (t->header.blocks != t->blocks) {
            reel_scan_finding(t->scan, REEL_WARNING, 0, 0, 0,
                              "the header states %u message blocks, but %llu were found", t->header.blocks,
                              (unsigned long long)t->blocks);
        }
    }
    for (size_t i = 0; i < t->n_infos; i++) {
        check_info(t, &t->infos[i], &missing, &wrong);
    }
    mira_report(t, REEL_NOTE, &t->empty_blocks, "message blocks that were not closed");
    mira_report(t, REEL_WARNING, &wrong, "channel infos whose stated sums or times do not match their messages");
    mira_report(t, REEL_NOTE, &missing.none, "channels without an index");
    mira_report(t, REEL_WARNING, &missing.beyond_end, "channels whose index would be beyond the end of the file");
    mira_report_counts(t);
}
