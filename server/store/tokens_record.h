/* The record that an archive has had an access token. It lies beside the data and not in the catalog, so that an
 * archive whose catalog is lost, or is replaced by an older one, does not become open: the file "tokens-required" in
 * the data folder and, with a bucket, the object notes/tokens-required. That it exists is all that counts. */
#ifndef SERVER_STORE_TOKENS_RECORD_H
#define SERVER_STORE_TOKENS_RECORD_H

#include "store/store.h"

#define TOKENS_RECORD "tokens-required"

/* In the data folder, or in the bucket of `store`, which may be NULL. */
bool tokens_record_exists(const char *data, struct store *store, bool *exists, struct reel_error *err);
/* Makes a durable record in the data folder and, unless there is one in the folder already, in the bucket before. The
 * one in the folder implies the one in the bucket. */
bool tokens_record_write(const char *data, struct store *store, struct reel_error *err);
/* The same, also where the record in the bucket is not known to be there: at start, and after the files were moved. */
bool tokens_record_restore(const char *data, struct store *store, struct reel_error *err);

#endif
