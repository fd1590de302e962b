/* Conversions and stored files as the members of one ZIP archive that is not stored: each is planned, and read once for
 * its CRC-32, which precedes it; from then on the archive has a length and ranges. Members are not compressed by the
 * archive. */
#ifndef SERVER_API_EXPORT_ZIP_ARCHIVE_H
#define SERVER_API_EXPORT_ZIP_ARCHIVE_H

#include "base/digest.h"
#include "convert/conversion.h"
#include "store/store.h"
#include "work/derived_cache.h"

struct zip_sum { /* of one member */
    uint64_t size;
    uint32_t crc;
    char sha256[SHA256_HEX]; /* with zip_items.late; else "" */
    char *text;              /* malloc'd: of a late text */
};

/* Texts that depend on the members before them, such as a list of their digests. The job that plans calls these. */
struct zip_late {
    /* Conversion i has been planned. */
    void (*planned)(void *context, uint32_t i, const struct reel_plan *plan);
    /* The text of item i, malloc'd; `sums` of the items before it. */
    char *(*text)(void *context, uint32_t i, const struct zip_sum *sums, struct reel_error *err);
    void (*free)(void *context);
};

/* What is in it; counted references, as the job that plans may outlive the request. */
struct zip_items {
    _Atomic uint32_t references;
    struct zip_item {
        char *name;                         /* malloc'd; unique and safe to unpack */
        struct reel_conversion *conversion; /* NULL: a stored file, … */
        char sha256[SHA256_HEX];            /* … "": a text */
        uint64_t size;                      /* of the stored file */
        char *text;                         /* NULL: a late one */
    } * items;
    uint32_t n, room;
    struct store *store;         /* of the stored files */
    const struct zip_late *late; /* NULL: no late texts, and no digests */
    void *context;               /* its, owned */
};
struct zip_items *zip_items_new(uint32_t room, struct reel_error *err);
void zip_items_free(struct zip_items *items); /* gives a reference back; NULL is fine */
REEL_DEFINE_AUTO(struct zip_items, zip_items_free);

/* Sizes, CRCs and digests of them all. As plans_get(): NULL with job[0] set: not ready after wait_ns. `key` names all
 * that decides the bytes. */
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
