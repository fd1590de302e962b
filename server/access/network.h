/* Addresses and networks; IPv4 as IPv4-mapped IPv6. */
#ifndef SERVER_ACCESS_NETWORK_H
#define SERVER_ACCESS_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "reel/error.h"

struct address {
    uint8_t bytes[16];
};
struct network {
    struct address address;
    unsigned bits;
};
enum { ADDRESS_TEXT = 64 };

bool address_parse(const char *text, struct address *out);
bool network_parse(const char *text, struct network *out, struct reel_error *err); /* "10.0.0.7", "10.0.0.0/8", "fd00::/8" */
bool network_holds(const struct network *networks, size_t n, const struct address *address);
struct address address_of_household(const struct address *a); /* who may be taken for one: an IPv4 address, 64 bits of IPv6 */

/* Whom the last trusted proxy of X-Forwarded-For speaks for: the last address that is none of the trusted ones. False: it says nothing
 * usable. */
bool forwarded_for(const char *header, const struct network *trusted, size_t n, char out[ADDRESS_TEXT]);

#endif
