/* The text that a link signs, and how the signature appears in a target. */
#ifndef SERVER_ACCESS_LINK_TEXT_H
#define SERVER_ACCESS_LINK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINK_TARGET_MAX = 8000, LINK_PARAMS_MAX = 256, LINK_MAC = 32, LINK_MAC_TEXT = 44, LINK_NUMBER_MAX = 20 };

struct link_claim { /* of sig= and exp=; sig is VERSION.TOKEN.MAC */
    uint64_t version;
    int64_t token, expires_s;
    char mac[LINK_MAC_TEXT];
};

/* The text to sign: the segments of the path and all parameters except sig and exp, decoded, each with its length;
 * parameters sorted by name, equal names in their order. So escaping and order do not matter; everything else does.
 * With `claim`, sig and exp must occur exactly once, well formed, and are stored there; with NULL they must not occur.
 * False: otherwise, or an invalid target. malloc'd. */
bool link_text(const char *target, struct link_claim *claim, char **text, size_t *size);

/* The other kind of link is a key for one recording and what is below it: RECORDING.EXPIRES.VERSION.TOKEN.MAC. It signs
 * the recording. */
enum { LINK_RECORDING = 33, LINK_KEY_TEXT = LINK_RECORDING + 3 * (LINK_NUMBER_MAX + 1) + LINK_MAC_TEXT };
bool link_key_read(const char *key, char recording[LINK_RECORDING], struct link_claim *out);

#endif
