/* The store as its upkeep sees it: looked at beside a server, and files put where they harm nobody. Nothing here deletes a stored file. */
#ifndef SERVER_STORE_INSPECT_H
#define SERVER_STORE_INSPECT_H

#include <jansson.h>

#include "store/store.h"

/* Opens a data folder that is there as it is: takes no lock, makes nothing, sweeps nothing. *alone says whether no server had it.
 * REEL_NOT_FOUND. */
struct store *store_open_readonly(const char *folder, bool *alone, struct reel_error *err);
const char *store_folder(const struct store *store);

/* Of a file under blobs/; false: it is not there. */
bool store_file_size(const struct store *store, const char *hex, const char *suffix, uint64_t *size);
bool store_file_path(const struct store *store, const char *hex, const char *suffix, char *out, size_t size);
/* The manifest of a content, a new reference; REEL_NOT_FOUND, or REEL_DAMAGED when it makes no sense. */
json_t *store_load_manifest(const struct store *store, const char *content, struct reel_error *err);
/* {"name": "description"} of collections.json, a new reference; an empty object when there is none. */
json_t *store_load_collections(const struct store *store);
/* settings.json (upkeep/settings.h): a new reference, NULL when there is none; and written whole beside the old one, for its owner only. */
json_t *store_load_settings(const struct store *store);
bool store_write_settings(struct store *store, const json_t *settings, struct reel_error *err);
/* Moves a file under blobs/ to lost+found/, under a name that is free. */
bool store_set_aside(const struct store *store, const char *hex, const char *suffix, struct reel_error *err);
/* Every file in incoming/ but hidden ones; `id` is that of the upload session it belongs to by its name, NULL: of none. */
bool store_each_incoming(const struct store *store, void (*visit)(void *context, const char *name, const char *id), void *context,
                         struct reel_error *err);
bool store_remove_incoming(const struct store *store, const char *name, struct reel_error *err);

#endif
