/* A conversion in several parts, each a complete file: where one part ends and the next begins. */
#ifndef REEL_CONVERT_SPLIT_H
#define REEL_CONVERT_SPLIT_H

#include "convert/writer.h"

enum { REEL_SPLIT_MAX = 1000 }; /* parts */

enum { REEL_SPLIT_KEY_ROOM = 256 };
struct reel_split_rule {           /* one of them, the others are 0 */
    int64_t ns;                    /* a part spans at most this, counted from the first message */
    uint64_t bytes;                /* a part has about this size at most */
    bool resets;                   /* a part is a run of a NanoVer recording: reel_nanover_split() */
    char key[REEL_SPLIT_KEY_ROOM]; /* a part begins where this key of NanoVer's frame or state gets another value */
};
static inline bool reel_split_is_nanover(const struct reel_split_rule *rule) {
    return rule->resets || rule->key[0];
}
/* "1GB" (also k, kB, M, MB, G, KiB, MiB, GiB; no unit: bytes); false: it is no such size, or 0. */
bool split_parse_size(const char *text, uint64_t *bytes);
/* "duration:60s", "size:1GB" (also kB, MB, GiB …; no unit: bytes), "reset" or "key:simulation.name". */
bool reel_split_parse(const char *text, struct reel_split_rule *out, struct reel_error *err);

/* The parts of a conversion. None is without messages, except that of a selection without any. */
struct reel_split_part {
    struct reel_selection selection; /* with the part's times; borrows from the selection that was split */
    struct reel_write_options options;
};
/* By duration or size: an array of *count parts, from malloc. REEL_LIMIT: more than REEL_SPLIT_MAX; REEL_UNSUPPORTED:
 * by size, where lengths are not planned. */
struct reel_split_part *reel_split(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                   uint32_t n_recordings, const struct reel_selection *selection,
                                   const struct reel_write_options *options, const struct reel_split_rule *rule,
                                   const struct reel_progress *progress, uint32_t *count, struct reel_error *err);

#endif
