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

/* The segments of the path and all parameters but sig and exp, decoded, each with its length; parameters in the order of their names, those
 * of one name as they came. So it does not matter how a client escapes them or in which order it sends them; anything else does. `claim`
 * (may be NULL) gets what the target claims; false: no such target, or it does not claim anything well formed exactly once (or does, when
 * claim is NULL). malloc'd. */
bool link_text(const char *target, struct link_claim *claim, char **text, size_t *size);

#endif
