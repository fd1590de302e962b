/* Conversions as the members of one ZIP archive that is not stored: each is planned, and rendered once for its CRC-32,
 * which precedes it; from then on the archive has a length and ranges. Members are not compressed by the archive. */
#ifndef SERVER_API_EXPORT_ZIP_ARCHIVE_H
#define SERVER_API_EXPORT_ZIP_ARCHIVE_H

#include "convert/conversion.h"
#include "work/derived_cache.h"

/* What is in it; counted references, as the job that plans may outlive the request. */
struct zip_items {
    _Atomic uint32_t references;
    struct zip_item {
        char *name;                         /* malloc'd; unique and safe to unpack */
        struct reel_conversion *conversion; /* NULL: `text` */
        char *text;
    } * items;
    uint32_t n, room;
};
struct zip_items *zip_items_new(uint32_t room, struct reel_error *err);
void zip_items_free(struct zip_items *items); /* gives a reference back; NULL is fine */
REEL_DEFINE_AUTO(struct zip_items, zip_items_free);

/* Sizes and CRCs of them all. As plans_get(): NULL with job[0] set: not ready after wait_ns. `key` names all that
 * decides the bytes. */
struct zip_plan;
void zip_plan_free(struct zip_plan *plan);
REEL_DEFINE_AUTO(struct zip_plan, zip_plan_free);
struct zip_plan *zip_plan_get(struct derived_cache *cache, struct zip_items *items,
                              const struct derived_request *request, char job[33], struct reel_error *err);

/* Owned by the response. */
struct zip_archive;
struct zip_archive *zip_archive_new(struct zip_items *items, struct zip_plan *plan, struct reel_error *err);
void zip_archive_free(void *archive);
uint64_t zip_archive_length(const struct zip_archive *archive);
bool zip_archive_read(void *archive, uint64_t offset, void *buffer, size_t size, struct reel_error *err);

#endif
