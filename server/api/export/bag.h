/* Packages that journals and repositories take: a bag (BagIt 1.0, RFC 8493) whose payload is an RO-Crate. */
#ifndef SERVER_API_EXPORT_BAG_H
#define SERVER_API_EXPORT_BAG_H

#include <stdio.h>

#include "api/export/inputs.h"
#include "api/export/zip_archive.h"

#define BAG_DATA "export/data/" /* a bag is packed with its folder, which is called as the archive */
enum { BAG_TEXTS = 7 };         /* items besides the payload */

struct bag_member { /* of the payload, an item of the archive */
    uint32_t input; /* whose it is */
    const char *as; /* "mcap"; NULL: an original */
};

struct bag;
void bag_free(struct bag *bag); /* NULL is fine */
REEL_DEFINE_AUTO(struct bag, bag_free);
/* Of the request's parameter `deposit`. NULL: replied. */
struct bag *bag_new(struct http_request *r);
/* Adds the texts to the items, of which the first `n` are these members, whose names begin with BAG_DATA; the rest are
 * texts of the payload. Prints to `identity` what decides the bytes besides the members. The items own the bag from
 * then on, also on failure. */
bool bag_add_texts(struct bag *bag, const struct inputs *in, const struct bag_member *members, uint32_t n,
                   struct zip_items *items, FILE *identity, struct reel_error *err);

#endif
