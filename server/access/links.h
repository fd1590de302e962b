/* Signed links: a path with all its parameters, or a key for one recording and what is below it. Anybody with the link
 * may GET that until it expires, with the rights of the token that signed it. */
#ifndef SERVER_ACCESS_LINKS_H
#define SERVER_ACCESS_LINKS_H

#include <stdint.h>

#include "access/link_text.h"
#include "reel/cleanup.h"
#include "reel/error.h"

/* The keys, in a file of the data folder that only its owner may read. The newest signs, all of them verify; `reel
 * token rotate` takes effect at once. Thread-safe. */
struct links;
struct links *links_open(const char *data, struct reel_error *err); /* creates the first key if there is none */
void links_close(struct links *links);
REEL_DEFINE_AUTO(struct links, links_close);

/* Creates a new signing key. The previous key still verifies; with `forget`, no old key does. */
bool links_rotate(const char *data, bool forget, struct reel_error *err);

/* Among several servers the catalog has the keys, and the file is a copy, which is brought up to date every few
 * seconds. The first server gives its keys. The catalog must outlive the links. */
struct catalog;
bool links_share(struct links *links, struct catalog *catalog, struct reel_error *err);
bool links_publish(const char *data, struct catalog *catalog, struct reel_error *err); /* after links_rotate() */

/* `target` is a path with its query, without sig and exp; out: the same with them, malloc'd. */
bool links_sign(struct links *links, const char *target, int64_t token, int64_t expires_s, char **out,
                struct reel_error *err);

enum link_verdict { LINK_GOOD, LINK_WRONG, LINK_EXPIRED, LINK_NO_KEYS };
enum link_verdict links_verify(struct links *links, const char *target, int64_t now_s, struct link_claim *claim);

/* The same for a key of one recording, by its id. */
bool links_sign_recording(struct links *links, const char *recording, int64_t token, int64_t expires_s,
                          char out[LINK_KEY_TEXT], struct reel_error *err);
enum link_verdict links_verify_recording(struct links *links, const char *key, int64_t now_s,
                                         char recording[LINK_RECORDING], struct link_claim *claim);

/* For what the servers of one catalog send each other: a signature by the keys that they share. */
bool links_mac(struct links *links, const char *text, size_t size, char out[LINK_MAC_TEXT], struct reel_error *err);
bool links_mac_matches(struct links *links, const char *text, size_t size, const char *given);

/* The secret that belongs to this text, by the i-th key from the newest; "": no such key. */
bool links_secret(struct links *links, const char *text, size_t size, unsigned i, char out[LINK_MAC_TEXT],
                  struct reel_error *err);

#endif
