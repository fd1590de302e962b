/* Compares INDX blocks with the entries of the chunks. The index is only compared, never used: recorders that crashed,
 * or appended to a file, left incomplete ones. Rows and entries of a channel are compared by sums that do not depend on
 * their order. */
#include "base/bytes.h"
#include "formats/tide/container.h"

bool tide_read_index(struct tide *t, const struct tide_block *b, struct reel_error *err) {
    uint64_t body = b->at + TIDE_BLOCK_HEAD, size = b->end - body;
    const uint8_t *p = size < TIDE_INDEX_HEAD ? NULL : window_at(&t->data, body, TIDE_INDEX_HEAD, err);
    if (size < TIDE_INDEX_HEAD) {
        tide_lost(t, b->at, b->end - b->at, "block INDX at %llu: it is truncated", (unsigned long long)b->at);
        return true;
    }
    if (!p) {
        return false;
    }
    uint32_t id = load_u32le(p), stated = load_u32le(p + 4);
    uint64_t room = (size - TIDE_INDEX_HEAD) / TIDE_INDEX_ROW, rows = stated < room ? stated : room;
    struct tide_channel *c;
    if (!tide_channel_of(t, id, b->at, &c, err)) {
        return false;
    }
    uint64_t sum = 0, at = body + TIDE_INDEX_HEAD;
    for (uint64_t i = 0; i < rows; i++, at += TIDE_INDEX_ROW) {
        if (!(p = window_at(&t->data, at, TIDE_INDEX_ROW, err))) {
            return false;
        }
        sum += t->is_new ? tide_position_hash(load_u64le(p), load_u64le(p + 8), load_u32le(p + 16))
                         : tide_position_hash(load_u32le(p), load_u64le(p + 4), load_u64le(p + 12));
    }
    if (c) {
        c->indexed += rows;
        c->index_sum += sum;
    }
    t->index_rows += rows;
    if (b->cut || rows < stated) {
        reel_scan_finding(t->scan, REEL_WARNING, 0, b->at, 0, "block INDX at %llu: it has %llu of %u rows",
                          (unsigned long long)b->at, (unsigned long long)rows, stated);
        return true;
    }
    uint64_t left = b->end - at;
    if (left > 0) {
        p = left == 4 ? window_at(&t->data, at, 4, err) : NULL;
        if (left == 4 && !p) {
            return false;
        }
        tide_oddity(p && load_u32le(p) == 0 && !t->is_new ? &t->padded : &t->beyond, b->at);
    }
    return true;
}

static bool agrees(const struct tide_channel *c) {
    return c->indexed == c->messages &&
           (c->index_sum == c->sums[0] || c->index_sum == c->sums[1] || c->index_sum == c->sums[2]);
}

void tide_compare_index(struct tide *t) {
    uint64_t missing = 0, wrong = 0;
    const struct tide_channel *first = NULL;
    for (size_t i = 0; i < t->n_channels; i++) {
        const struct tide_channel *c = &t->channels[i];
        if (agrees(c)) {
            continue;
        }
        if (c->indexed < c->messages) {
            missing += c->messages - c->indexed;
        } else {
            first = first ? first : c;
            wrong++;
        }
    }
    if (t->index_rows == 0 && t->messages > 0) {
        reel_scan_finding(t->scan, REEL_NOTE, 0, t->body_end, 0,
                          "no index: the recorder was killed before it wrote one, or does not write one");
    } else if (missing > 0) {
        reel_scan_finding(
            t->scan, REEL_WARNING, 0, t->body_end, 0,
            "the index lacks %llu of %llu messages: the recorder was killed, or appended to an existing file",
            (unsigned long long)missing, (unsigned long long)t->messages);
    }
    if (first) {
        reel_scan_finding(
            t->scan, REEL_WARNING, 0, t->body_end, 0,
            "the index of %llu channels does not match their messages: it has %llu of channel %u, which has %llu",
            (unsigned long long)wrong, (unsigned long long)first->indexed, first->fields.id,
            (unsigned long long)first->messages);
    }
}
