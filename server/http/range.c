/* The Range header (RFC 9110, 14). A header that is invalid or requests too many ranges is ignored: the whole body is
 * sent. */
#include "base/ascii.h"
#include "http/http_internal.h"

#include <stdlib.h>

static const char *range_skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    return p;
}

/* Reads digits; a number that is too large becomes UINT64_MAX. NULL: no digits. */
static const char *range_number(const char *p, uint64_t *out) {
    if (*p < '0' || *p > '9') {
        return NULL;
    }
    uint64_t value = 0;
    bool huge = false;
    for (; *p >= '0' && *p <= '9'; p++) {
        huge = huge || __builtin_mul_overflow(value, 10u, &value) ||
               __builtin_add_overflow(value, (unsigned)(*p - '0'), &value);
    }
    *out = huge ? UINT64_MAX : value;
    return p;
}

/* One "a-b", "a-" or "-n". *fits: it can be satisfied (a suffix of an empty body can). NULL: not a range. */
static const char *one_range(const char *p, uint64_t length, struct http_range *out, bool *fits) {
    uint64_t first = 0, last = UINT64_MAX, suffix = 0;
    if (*p == '-') {
        p = range_number(p + 1, &suffix);
        *fits = suffix > 0;
        *out = (struct http_range){.first = suffix < length ? length - suffix : 0, .last = length - 1};
        return p;
    }
    p = range_number(p, &first);
    if (!p || *p++ != '-') {
        return NULL;
    }
    if (*p >= '0' && *p <= '9') {
        p = range_number(p, &last);
        if (last < first) {
            return NULL;
        }
    }
    *fits = first < length;
    *out = (struct http_range){.first = first, .last = last < length ? last : length - 1};
    return p;
}

static int by_first(const void *a, const void *b) {
    const struct http_range *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Overlapping and adjacent ranges become one; others stay in the requested order. */
static void merge(struct http_ranges *ranges) {
    struct http_ranges sorted = *ranges;
    qsort(sorted.items, sorted.count, sizeof sorted.items[0], by_first);
    size_t kept = 0;
    for (size_t i = 1; i < sorted.count; i++) {
        struct http_range *last = &sorted.items[kept];
        const struct http_range *next = &sorted.items[i];
        if (next->first <= last->last || next->first - last->last == 1) {
            last->last = next->last > last->last ? next->last : last->last;
        } else {
            sorted.items[++kept] = *next;
        }
    }
    sorted.count = sorted.count ? kept + 1 : 0;
    if (sorted.count < ranges->count) {
        *ranges = sorted;
    }
}

enum http_range_answer range_parse(const char *header, uint64_t length, struct http_ranges *out) {
    out->count = 0;
    if (!header || ascii_ncasecmp(header, "bytes=", 6) != 0) {
        return RANGE_WHOLE;
    }
    size_t requested = 0;
    const char *p = range_skip_blanks(header + 6);
    while (*p) {
        if (*p == ',') {
            p = range_skip_blanks(p + 1);
            continue;
        }
        struct http_range range;
        bool fits;
        p = one_range(p, length, &range, &fits);
        if (!p || ++requested > HTTP_RANGES_MAX) {
            return RANGE_WHOLE;
        }
        if (fits) {
            out->items[out->count++] = range;
        }
        p = range_skip_blanks(p);
        if (*p && *p != ',') {
            return RANGE_WHOLE;
        }
    }
    if (requested == 0) {
        return RANGE_WHOLE;
    }
    if (length == 0 && out->count > 0) {
        return RANGE_WHOLE; /* Content-Range cannot express a range of an empty body */
    }
    merge(out);
    return out->count > 0 ? RANGE_PARTS : RANGE_UNSATISFIABLE;
}
