/* Idempotency keys: the first answers are in the catalog, a key in use is a lock. */
#ifndef SERVER_WORK_KEYS_H
#define SERVER_WORK_KEYS_H

#include "http/http.h"

extern const struct http_keys key_store;

#endif
