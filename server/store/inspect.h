/* The store as maintenance sees it: opened without its lock while a server may be running, and unused files moved to
 * lost+found. No stored file is deleted here. */
#ifndef SERVER_STORE_INSPECT_H
#define SERVER_STORE_INSPECT_H

#include "store/store.h"

/* Opens an existing data folder as it is: takes no lock, creates nothing, sweeps nothing. *alone: no server has it
 * open. REEL_NOT_FOUND. */
struct store *store_open_readonly(const char *folder, bool *alone, struct reel_error *err);
const char *store_folder(const struct store *store);

/* Of a file under blobs/; false: it is not there. */
bool store_file_size(const struct store *store, const char *hex, const char *suffix, uint64_t *size);
bool store_file_path(const struct store *store, const char *hex, const char *suffix, char *out, size_t size);
/* Moves a file under blobs/ to lost+found/, under a name that is free. */
bool store_set_aside(const struct store *store, const char *hex, const char *suffix, struct reel_error *err);

#endif
