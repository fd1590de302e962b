/* See splits.h. People number their recordings too, so the times and topics in the files' summaries are compared; a
 * file without a summary was being written when its recorder stopped. */
#include "index/splits.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "index/index.h"
#include "index/scan.h"
#include "index/split_name.h"

enum { HEAD_BYTES = 4096 };
static const int64_t PAUSE_NS = 10000000000; /* between two files of one recording */

static bool is_of(const struct reel_format *format, struct reel_source *source) {
    uint8_t head[HEAD_BYTES];
    size_t size = source->size < sizeof head ? (size_t)source->size : sizeof head;
    struct reel_error ignored = {0};
    return reel_source_read(source, 0, head, size, &ignored) &&
           format->probe(bytes_of(head, size), source, &ignored) > 0;
}

/* The name without the ending of a file that is being written: run_1.bag.active. */
static bool name_of(const struct reel_source *source, struct split_name *out) {
    static const char active[] = ".active";
    struct reel_bytes name = bytes_text(source->name);
    size_t end = sizeof active - 1;
    name.size -= name.size > end && memcmp(name.data + name.size - end, active, end) == 0 ? end : 0;
    return split_name_of(name, out);
}

/* NULL: it has none, or no messages. */
static struct reel_index *summary_of(const struct reel_format *format, struct reel_source *source) {
    struct reel_error ignored = {0};
    AUTO(reel_index_free)
    struct reel_index *index = reel_scan_index(&source, 1, format, NULL, true, NULL, NULL, &ignored);
    return index && reel_index_info(index)->messages > 0 ? TAKE(index) : NULL;
}

/* Whether no topic of both has another type in each. */
static bool topics_agree(const struct reel_index *a, const struct reel_index *b) {
    struct hash_table types = {0}; /* by topic; its value is the channel's number + 1 */
    bool agree = true;
    for (uint32_t i = 0; i < reel_index_info(a)->n_channels && agree; i++) {
        agree = hash_table_set(&types, hash_key_bytes(bytes_text(reel_index_channel(a, i)->name)), i + 1, NULL);
    }
    for (uint32_t i = 0; i < reel_index_info(b)->n_channels && agree; i++) {
        const struct reel_channel *c = reel_index_channel(b, i);
        uint64_t same = hash_table_get(&types, hash_key_bytes(bytes_text(c->name)));
        agree = same == 0 || strcmp(reel_index_channel(a, (uint32_t)same - 1)->type, c->type) == 0;
    }
    hash_table_free(&types);
    return agree;
}

static bool continues(const struct reel_format *format, struct reel_source *earlier, struct reel_source *later) {
    AUTO(reel_index_free) struct reel_index *a = summary_of(format, earlier);
    AUTO(reel_index_free) struct reel_index *b = a ? summary_of(format, later) : NULL;
    if (!a || !b) {
        return true;
    }
    int64_t start = reel_index_info(a)->start_ns, end = reel_index_info(a)->end_ns, next = reel_index_info(b)->start_ns;
    return next >= start && (next <= end || (uint64_t)next - (uint64_t)end <= (uint64_t)PAUSE_NS) && topics_agree(a, b);
}

/* The splits are numbered from 0, and the next one adjoins those that are known; others are splits if the user says so.
 */
enum reel_joins splits_join(const struct reel_format *format, struct reel_source *const *parts, uint32_t n,
                            struct reel_source *other) {
    struct split_name own, name;
    struct reel_source *before = NULL;
    bool first = false;
    if (!name_of(other, &name) || !is_of(format, other)) {
        return REEL_JOINS_NOT;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!name_of(parts[i], &own) || !split_names_match(&own, &name) || !is_of(format, parts[i])) {
            return REEL_JOINS_NOT;
        }
        first = first || own.number == 0;
        before = own.number + 1 == name.number ? parts[i] : before;
    }
    return first && before && continues(format, before, other) ? REEL_JOINS : REEL_MAY_JOIN;
}
