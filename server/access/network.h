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
bool network_parse(const char *text, struct network *out, struct reel_error *err); /* "10.0.0.7", "10.0.0.0/8",
                                                                                      "fd00::/8" */
bool network_holds(const struct network *networks, size_t n, const struct address *address);
struct address address_prefix(const struct address *a); /* for limits per client: the IPv4 address, or the /64 of an
                                                           IPv6 address */

/* The client's address in X-Forwarded-For: the last one that is not a trusted proxy. False: none, or malformed. */
bool forwarded_for(const char *header, const struct network *trusted, size_t n, char out[ADDRESS_TEXT]);

/* Whether every client that these headers name is in the networks: X-Forwarded-For (RFC 7239: Forwarded). False: one is
 * not, or cannot be read. */
bool forwarded_for_is_within(const char *header, const struct network *networks, size_t n);
bool forwarded_is_within(const char *header, const struct network *networks, size_t n);

#endif
