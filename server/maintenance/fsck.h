/* Checks the archive: the catalog by itself, the catalog against the stored files, the stored files against the
 * catalog. */
#ifndef SERVER_MAINTENANCE_FSCK_H
#define SERVER_MAINTENANCE_FSCK_H

#include "app.h"
#include "index/scan.h"

enum fsck_kind {
    FSCK_CATALOG,  /* the database is damaged or inconsistent; needs a rebuild */
    FSCK_TOTALS,   /* the stored totals differ from the rows */
    FSCK_SEARCH,   /* the search index */
    FSCK_FILE,     /* a stored file is missing or has another size, or a referenced file is missing or changed */
    FSCK_INDEX,    /* an index pack is gone, damaged or of another version */
    FSCK_MANIFEST, /* a manifest is missing, or differs from the catalog */
    FSCK_UNKNOWN,  /* a manifest names a recording that the catalog does not have */
    FSCK_ORPHAN,   /* an unused file under blobs/ */
    FSCK_LEFTOVER, /* of interrupted work */
};
const char *fsck_kind_name(enum fsck_kind kind);

struct fsck_options {
    const char *data;
    const char *const *roots; /* folders with referenced files, NULL-terminated: these are checked; NULL: none */
    uint64_t leftover_s;      /* what an upload left in a bucket is looked at when it is this old */
    bool repair, rebuild;     /* rebuild: creates the catalog again from the manifests; includes repair */
    const struct reel_progress *progress; /* counts recordings, then files */
    /* Called for each finding; `subject` names a recording or file. `repaired` NULL: not repaired, else how. */
    void (*found)(void *context, enum fsck_kind kind, const char *subject, const char *text, const char *repaired);
    void *context;
};
struct fsck_report {
    uint64_t found, repaired;
    uint64_t recordings, files, manifests; /* inspected */
    uint64_t elsewhere;                    /* referenced files below none of the roots: not checked */
    uint64_t under_way;                    /* in the bucket, of uploads that may go on: not checked */
    bool alone;                            /* no server was running, so everything was checked */
    bool tokens_lost;                      /* the archive has had tokens, and the new catalog has none */
    bool tokens_unknown;                   /* … or may have had: the old catalog cannot be read */
    char old_catalog[64];                  /* after a rebuild, where it is; "": there was none */
};
/* False: the check could not run (REEL_CONFLICT: a server is running, and a repair was requested). */
bool fsck_run(const struct fsck_options *options, struct fsck_report *out, struct reel_error *err);

#endif
