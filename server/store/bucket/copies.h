/* Packs and statistics, objects of the bucket: they are read from copies, which the folder has of some. The operations
 * of these names. */
#ifndef SERVER_STORE_BUCKET_COPIES_H
#define SERVER_STORE_BUCKET_COPIES_H

#include "store/store.h"

bool copy_place(struct store *store, const char *content, const char *suffix, char *out, size_t size,
                struct reel_error *err);
bool copy_keep(struct store *store, const char *content, const char *suffix, struct reel_error *err);
int copy_open(struct store *store, const char *content, const char *suffix, bool again, char *out, size_t size,
              struct reel_error *err);
bool copy_remove(struct store *store, const char *hex, const char *suffix, struct reel_error *err);

/* The folder of the objects with this suffix; NULL: those with it are named in another way. */
const char *bucket_folder_of(const char *suffix);

#endif
