/* Moving the files of an archive between its data folder and a bucket. Until the switch they go through a store of
 * their own, in the folder "moving" of the data folder, and nothing changes for the archive. */
#ifndef SERVER_STORE_SWITCH_H
#define SERVER_STORE_SWITCH_H

#include "store/store.h"

/* The store in the folder "moving", made if there is none. */
struct store *store_open_moving(const struct store *store, struct reel_error *err);
/* From the next start on the files are in the bucket. Those of the folder are kept in blobs.moved-N. */
bool store_switch_to_bucket(struct store *store, const char *address, struct reel_error *err);
/* From the next start on the files are in the data folder; those of the folder "moving" become its own. The bucket
 * stays as it is. The store in "moving" has been closed. */
bool store_switch_to_folder(struct store *store, struct reel_error *err);

#endif
