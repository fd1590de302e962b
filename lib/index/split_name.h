/* Names of the files that a recorder writes one after another: run_0.mcap, run_1.mcap. */
#ifndef REEL_INDEX_SPLIT_NAME_H
#define REEL_INDEX_SPLIT_NAME_H

#include "reel/bytes.h"

/* run_12.db3: "run", 12, ".db3". */
struct split_name {
    struct reel_bytes stem, ending;
    unsigned long number;
};
/* False: it is no such name. More than three digits are a date or a time, but for the four of `reel convert --split`.
 */
bool split_name_of(struct reel_bytes name, struct split_name *out);

/* Two files of one recording, by their names. */
bool split_names_match(const struct split_name *a, const struct split_name *b);

#endif
