/* Scans MIRA tapes. No real tape was available, so every interpretation that the documentation allows is tried, and the
 * one that fits the tape is used; see layout.h. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "formats/mira/container.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>

enum { PEEK_BYTES = 4096 };

static int mira_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    struct mira_header h;
    return mira_header_read(head, source, &h);
}

void mira_close(struct mira *t) {
    window_close(&t->window);
    window_close(&t->peek);
    arena_free(&t->arena);
    hash_table_free(&t->names);
    free(t->channels);
    free(t->infos);
    free(t->tables);
    free(t->inflated);
    if (t->inflater) {
        libdeflate_free_decompressor(t->inflater);
    }
}

static bool mira_open(struct mira *t, struct reel_scan *scan, size_t window_bytes, struct reel_error *err) {
    *t = (struct mira){.scan = scan, .source = scan->parts[0], .at = MIRA_HEADER};
    t->arena.max = REEL_MODEL_MAX;
    uint64_t size = t->source->size, most = size < UINT64_MAX >> 11 ? size : UINT64_MAX >> 11;
    t->search_left = 4 * most + REEL_WINDOW_BYTES;
    t->verify_left = 1024 * most + (1 << 30);
    t->seed = hash_seed(); /* results do not depend on it */
    return window_open(&t->window, t->source, window_bytes, err) && window_open(&t->peek, t->source, PEEK_BYTES, err);
}

static bool report_header(const struct mira *t, struct reel_error *err) {
    const struct mira_header *h = &t->header;
    char container[64], version[16], start[24], utc[24];
    snprintf(container, sizeof container, "MIRA tape, version 0x%08x%s", h->version, h->big ? ", big-endian" : "");
    reel_scan_container(t->scan, container);
    if (h->start_ns < MIRA_WALL_MIN_NS) {
        reel_scan_clock(t->scan, REEL_CLOCK_RELATIVE,
                        h->start_ns == 0 ? "times are relative to the start of the recording"
                                         : "the clock of a simulation");
    }
    snprintf(version, sizeof version, "0x%08x", h->version);
    snprintf(start, sizeof start, "%llu", (unsigned long long)h->start_ns);
    snprintf(utc, sizeof utc, "%lld", (long long)h->utc_ns);
    return reel_scan_metadata(t->scan, MIRA_VERSION_KEY, bytes_text(version), err) &&
           reel_scan_metadata(t->scan, MIRA_START_KEY, bytes_text(start), err) &&
           reel_scan_metadata(t->scan, MIRA_UTC_KEY, bytes_text(utc), err);
}

bool mira_begin(struct mira *t, struct reel_scan *scan, size_t window_bytes, struct reel_error *err) {
    *t = (struct mira){.scan = scan};
    if (scan->n_parts != 1) {
        return reel_fail(err, REEL_UNSUPPORTED, "a MIRA tape is one file, not %u", scan->n_parts);
    }
    if (!mira_open(t, scan, window_bytes, err)) {
        return false;
    }
    size_t look = t->source->size < PEEK_BYTES ? (size_t)t->source->size : PEEK_BYTES;
    const uint8_t *p = window_at(&t->window, 0, look, err);
    if (!p) {
        return false;
    }
    if (mira_header_read(bytes_of(p, look), t->source, &t->header) == 0) {
        return reel_fail(err, REEL_NOT_MINE, "not a MIRA tape: the first 32 bytes are not a plausible header");
    }
    return report_header(t, err);
}

static bool mira_scan(struct reel_scan *scan, struct reel_error *err) {
    AUTO_STRUCT(mira_close) struct mira t;
    if (!mira_begin(&t, scan, REEL_WINDOW_BYTES, err) || !mira_walk(&t, err)) {
        return false;
    }
    mira_check(&t);
    return mira_finish_channels(&t, err);
}

static void mira_describe(struct reel_bytes head, const struct reel_entry *entry, const struct reel_channel *channel,
                          struct reel_description *out) {
    (void)head;
    uint32_t frame = (uint32_t)entry->extra[1];
    out->sequence = (uint32_t)entry->extra[0];
    if (frame > 0 && frame <= channel->metadata.count &&
        strcmp(channel->metadata.items[frame - 1].key, MIRA_FRAME_KEY) == 0) {
        out->frame_id = channel->metadata.items[frame - 1].value;
    }
}

const struct reel_format reel_format_mira = {
    .name = "mira",
    .title = "MIRA tape",
    .media_type = "application/x-mira-tape",
    .suffixes = (const char *const[]){".tape", NULL},
    .probe = mira_probe,
    .scan = mira_scan,
    .summary = mira_summary,
    .describe = mira_describe,
    .version = 2,
};
