/* See positions.h. */
#include "formats/mcap/positions.h"
#include "base/bytes.h"

#include <stdlib.h>

bool mcap_positions_widen(struct mcap_positions *p, uint32_t n_channels, struct reel_error *err) {
    if (n_channels <= p->n_channels) {
        return true;
    }
    uint32_t *counts = realloc(p->counts, ((size_t)n_channels + 1) * sizeof *counts);
    p->counts = counts ? counts : p->counts;
    uint32_t *touched = counts ? realloc(p->touched, ((size_t)n_channels + 1) * sizeof *touched) : NULL;
    p->touched = touched ? touched : p->touched;
    if (!touched) {
        return reel_fail_memory(err);
    }
    memset(counts + p->n_channels, 0, ((size_t)n_channels + 1 - p->n_channels) * sizeof *counts);
    p->n_channels = n_channels;
    return true;
}

bool mcap_positions_open(struct mcap_positions *p, uint32_t n_channels, struct reel_error *err) {
    p->items = malloc(MCAP_CHUNK_MESSAGES * sizeof *p->items);
    p->index = malloc((size_t)MCAP_CHUNK_MESSAGES * MCAP_MESSAGE_INDEX_ENTRY);
    p->counts = calloc((size_t)n_channels + 1, sizeof *p->counts);
    p->touched = calloc((size_t)n_channels + 1, sizeof *p->touched);
    p->n_channels = n_channels;
    return (p->items && p->index && p->counts && p->touched) || reel_fail_memory(err);
}

void mcap_positions_close(struct mcap_positions *p) {
    free(p->counts);
    free(p->touched);
    free(p->items);
    free(p->index);
    *p = (struct mcap_positions){0};
}

static int compare_index_entries(const void *a, const void *b) {
    const uint8_t *l = a, *r = b;
    uint64_t l_time = load_u64le(l), r_time = load_u64le(r), l_at = load_u64le(l + 8), r_at = load_u64le(r + 8);
    return l_time != r_time ? (l_time > r_time) - (l_time < r_time) : (l_at > r_at) - (l_at < r_at);
}

/* One pass sorts the messages by channel into runs; the runs are then written one after another. */
void mcap_positions_put(struct mcap_positions *p, struct reel_sink *out) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i < p->n_touched; i++) { /* counts become the index of the channel's first entry, which then
                                                     moves to its end */
        uint32_t *count = &p->counts[p->touched[i]], messages = *count;
        *count = begin;
        begin += messages;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        uint8_t *entry = p->index + (size_t)p->counts[p->items[i].channel]++ * MCAP_MESSAGE_INDEX_ENTRY;
        store_u64le(entry, p->items[i].time_ns);
        store_u64le(entry + 8, p->items[i].offset);
    }
    begin = 0;
    for (uint32_t i = 0; i < p->n_touched; i++) {
        uint32_t end = p->counts[p->touched[i]], size = (end - begin) * MCAP_MESSAGE_INDEX_ENTRY;
        uint8_t *entries = p->index + (size_t)begin * MCAP_MESSAGE_INDEX_ENTRY;
        if (p->disordered) { /* late messages, those put before a selection, or a view's */
            qsort(entries, end - begin, MCAP_MESSAGE_INDEX_ENTRY, compare_index_entries);
        }
        reel_sink_u8(out, MCAP_MESSAGE_INDEX);
        reel_sink_u64le(out, MCAP_MESSAGE_INDEX_HEAD - MCAP_RECORD_HEAD + (uint64_t)size);
        reel_sink_u16le(out, mcap_id(p->touched[i]));
        reel_sink_u32le(out, size);
        reel_sink_put(out, entries, size);
        begin = end;
    }
}

void mcap_positions_forget(struct mcap_positions *p) {
    for (uint32_t i = 0; i < p->n_touched; i++) {
        p->counts[p->touched[i]] = 0;
    }
    p->n_touched = p->count = 0;
    p->start_ns = p->end_ns = p->last_ns = 0;
    p->disordered = false;
}
