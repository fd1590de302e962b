/* Index packs that another machine sent. */
#ifndef REEL_INDEX_FOREIGN_H
#define REEL_INDEX_FOREIGN_H

#include "index/index.h"

/* Whether a pack is as builders write them: it can be read to its end, its texts are UTF-8 and within the limits,
 * counts and times agree with the entries. Its checksums say nothing of that. It may still say what is not in the file.
 * REEL_DAMAGED. */
bool index_check_foreign(const struct reel_index *index, struct reel_error *err);

#endif
