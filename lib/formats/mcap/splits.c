/* Files that continue each other: run_0.mcap, run_1.mcap … of a recorder that left no metadata.yaml. People number
 * their recordings too, so the times in the files' summaries are compared; a file without a summary was being written
 * when its recorder stopped. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/mcap/read.h"
#include "formats/mcap/write.h"
#include "index/index.h"
#include "index/split_name.h"

enum { HEAD_BYTES = 8 };
static const int64_t PAUSE_NS = 10000000000; /* between two files of one recording */

static bool is_mcap(struct reel_source *source) {
    uint8_t head[HEAD_BYTES];
    struct reel_error ignored;
    return source->size >= sizeof head && reel_source_read(source, 0, head, sizeof head, &ignored) &&
           bytes_start(bytes_of(head, sizeof head), bytes_text("\x89MCAP"));
}

/* False: they are not known. */
static bool times_of(struct reel_source *source, int64_t *start_ns, int64_t *end_ns) {
    struct reel_error ignored;
    AUTO(reel_index_free)
    struct reel_index *index = reel_scan_index(&source, 1, &reel_format_mcap, NULL, true, NULL, NULL, &ignored);
    const struct reel_index_info *info = index ? reel_index_info(index) : NULL;
    *start_ns = info ? info->start_ns : 0;
    *end_ns = info ? info->end_ns : 0;
    return info && info->messages > 0;
}

static bool continues(struct reel_source *earlier, struct reel_source *later) {
    int64_t start, end, next, last;
    if (!times_of(earlier, &start, &end) || !times_of(later, &next, &last)) {
        return true;
    }
    return next >= start && (next <= end || (uint64_t)next - (uint64_t)end <= (uint64_t)PAUSE_NS);
}

/* The splits are numbered from 0, and the next one adjoins those that are known; others are splits if the user says so.
 */
enum reel_joins mcap_joins(struct reel_source *const *parts, uint32_t n, struct reel_source *other) {
    struct split_name own, name;
    struct reel_source *before = NULL;
    bool first = false;
    if (!is_mcap(other) || !split_name_of(bytes_text(other->name), &name)) {
        return REEL_JOINS_NOT;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!split_name_of(bytes_text(parts[i]->name), &own) || !split_names_match(&own, &name) || !is_mcap(parts[i])) {
            return REEL_JOINS_NOT;
        }
        first = first || own.number == 0;
        before = own.number + 1 == name.number ? parts[i] : before;
    }
    return first && before && continues(before, other) ? REEL_JOINS : REEL_MAY_JOIN;
}
